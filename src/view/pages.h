#ifndef VIEW_PAGES_H
#define VIEW_PAGES_H

/* The parts of the page, which the program has in it: the files of src/view/page/. */
struct page_file {
    const char *name, *type; /* of MIME */
    const char *text;
};

/* The table of parts; it ends with a row of zeros. The first is the page itself, of no name. */
extern const struct page_file page_files[];

/* The row of a name, or a null pointer. */
const struct page_file *page_find(const char *name);

#endif
