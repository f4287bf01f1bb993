/* The program in the package: all of it is in the shared library that the extension module is
 * linked with. */

int kith_program_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return kith_program_main(argc, argv);
}
