#include "io/xyz_comment.h"

#include <string.h>
#include <strings.h>

#include "core/numbers.h"
#include "io/bodies.h"
#include "io/key_values.h"
#include "io/units.h"

#define MEMBER(name) offsetof(kith_bodies, name)

const struct xyz_property xyz_properties[xyz_property_count] = {
    {"species", "", 'S', 1, KITH_NAME, MEMBER(name)},
    {"pos", "", 'R', 3, 0, MEMBER(position)},
    {"velo", "velocities vel", 'R', 3, KITH_VELOCITY, MEMBER(velocity)},
    {"masses", "mass", 'R', 1, KITH_MASS, MEMBER(mass)},
    {"charge", "charges initial_charges", 'R', 1, KITH_CHARGE, MEMBER(charge)},
    {"eps", "softening", 'R', 1, KITH_SOFTENING, MEMBER(softening)},
    {"radius", "radii", 'R', 1, KITH_RADIUS, MEMBER(radius)},
    {"epsilon", "", 'R', 1, KITH_EPSILON, MEMBER(epsilon)},
    {"sigma", "", 'R', 1, KITH_SIGMA, MEMBER(sigma)},
    {"id", "", 'I', 1, KITH_ID, MEMBER(id)},
};

const struct xyz_property xyz_names = {"name", "", 'S', 1, KITH_NAME, MEMBER(name)};
static const struct xyz_property momenta = {"momenta", "", 'R', 3, KITH_VELOCITY, MEMBER(velocity)};

static bool is_in(const char *words, const char *word)
{
    const size_t wanted = strlen(word);
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (length == wanted && memcmp(words, word, length) == 0)
            return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

bool xyz_is_symbol(const char *name)
{
    return is_in(
        "X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn "
        "Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La "
        "Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po "
        "At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg "
        "Cn Nh Fl Mc Lv Ts Og",
        name);
}

/* NULL also for a property of a known name and another type: it means something else. */
static const struct xyz_property *find_property(const char *name, char type, int64_t width)
{
    for (int32_t k = 0; k < xyz_property_count + 2; k++) {
        const struct xyz_property *property = k < xyz_property_count    ? &xyz_properties[k]
                                              : k == xyz_property_count ? &xyz_names
                                                                        : &momenta;
        const bool named = strcmp(property->name, name) == 0 || is_in(property->aliases, name);
        const bool fits = type == property->type || (type == 'I' && property->type == 'R');
        if (named && fits && width == property->width)
            return property;
    }
    return NULL;
}

static bool has_property(const struct xyz_comment *comment, const struct xyz_property *property)
{
    for (int32_t k = 0; k < comment->columns; k++)
        if (comment->column[k].property == property)
            return true;
    return false;
}

/* 1 + the index of another column that is requested, which is added; 0: it is not, or there
 * already. */
static int32_t find_other(struct xyz_comment *comment, const char *name)
{
    const int32_t found = bodies_find_name(comment->wanted, name);
    for (int32_t k = 0; found >= 0 && k < comment->other_count; k++)
        if (strcmp(comment->other[k], name) == 0)
            return 0;
    if (found < 0)
        return 0;
    comment->other[comment->other_count++] = comment->wanted[found];
    return comment->other_count;
}

static kith_status add_property(struct xyz_comment *comment, const char *name, char type,
                                int64_t width)
{
    const struct xyz_property *property = find_property(name, type, width);
    if (property && has_property(comment, property))
        return kith_fail(KITH_BAD_FORMAT, "Properties has '%.40s' twice", name);
    if (width < 1 || width > xyz_max_columns - comment->columns)
        return kith_fail(KITH_BAD_FORMAT, "Properties has more than %d columns", xyz_max_columns);
    const int32_t other =
        property || width != 1 || !strchr("RI", type) ? 0 : find_other(comment, name);
    for (int32_t k = 0; k < width; k++) {
        comment->column[comment->columns].property = property;
        comment->column[comment->columns].other = other;
        comment->column[comment->columns++].component = k;
    }
    if (property)
        comment->flags |= property->flag;
    return KITH_OK;
}

/* If the comment has both, only the first counts: it has the same columns, or more. */
static void prefer(struct xyz_comment *comment, const struct xyz_property *first,
                   const struct xyz_property *second)
{
    if (!has_property(comment, first))
        return;
    for (int32_t k = 0; k < comment->columns; k++)
        if (comment->column[k].property == second)
            comment->column[k].property = NULL;
}

static void drop_momenta(struct xyz_comment *comment)
{
    for (int32_t k = 0; k < comment->columns; k++)
        if (comment->column[k].property == &momenta) {
            comment->column[k].property = NULL;
            comment->flags &= ~(unsigned)KITH_VELOCITY;
        }
}

static kith_status take_properties(char *value, struct xyz_comment *comment)
{
    comment->columns = comment->other_count = 0;
    comment->flags = 0;
    char *rest = value;
    while (rest) {
        const char *name = strsep(&rest, ":");
        const char *type = strsep(&rest, ":");
        const char *width_text = strsep(&rest, ":");
        int64_t width = 0;
        if (!width_text || strlen(type) != 1 || !strchr("SRIL", *type) ||
            !parse_integer(width_text, &width))
            return kith_fail(KITH_BAD_FORMAT,
                             "Properties is wrong at '%.40s'; give name:type:columns with type S, "
                             "R, I or L, as in species:S:1:pos:R:3",
                             name);
        KITH_TRY(add_property(comment, name, *type, width));
    }
    prefer(comment, &xyz_names, &xyz_properties[0]);
    prefer(comment, &xyz_properties[2], &momenta);
    if (comment->without_velocities && !(comment->flags & KITH_MASS))
        drop_momenta(comment);
    comment->has_momenta = has_property(comment, &momenta);
    if (comment->has_momenta && !(comment->flags & KITH_MASS))
        return kith_fail(KITH_BAD_FORMAT, "Properties has momenta and no masses to divide them by; "
                                          "add masses:R:1, or velo:R:3 instead of the momenta");
    return has_property(comment, &xyz_properties[1])
               ? KITH_OK
               : kith_fail(KITH_BAD_FORMAT, "Properties has no positions; add pos:R:3");
}

static kith_status take_lattice(char *value, struct xyz_comment *comment)
{
    int32_t count = 0;
    char *rest = value;
    for (const char *word; (word = strsep(&rest, " \t"));) {
        if (!*word)
            continue;
        if (count == 9 || !parse_real(word, &comment->lattice[count]))
            return kith_fail(KITH_BAD_FORMAT,
                             "Lattice is wrong at '%.40s'; give nine finite "
                             "numbers",
                             word);
        count++;
    }
    return count == 9 ? KITH_OK
                      : kith_fail(KITH_BAD_FORMAT, "Lattice has %d numbers; give nine", (int)count);
}

static kith_status take_pbc(char *value, struct xyz_comment *comment)
{
    int32_t count = 0;
    char *rest = value;
    for (const char *word; (word = strsep(&rest, " \t"));) {
        if (!*word)
            continue;
        const bool yes = is_in("T True true 1", word);
        if (count == 3 || (!yes && !is_in("F False false 0", word)))
            return kith_fail(KITH_BAD_FORMAT, "pbc is wrong at '%.40s'; give three of T and F",
                             word);
        comment->pbc[count++] = yes;
    }
    comment->has_pbc = true;
    return count == 3 ? KITH_OK
                      : kith_fail(KITH_BAD_FORMAT, "pbc has %d words; give three", (int)count);
}

/* Other programs may mean something else by these two keys: what does not fit is left alone. */
static kith_status take_time(char *value, struct xyz_comment *comment)
{
    double time = 0;
    if (parse_real(value, &time))
        comment->time = time;
    return KITH_OK;
}

static kith_status take_dimensions(char *value, struct xyz_comment *comment)
{
    if (strcmp(value, "2") == 0)
        comment->dimensions = 2;
    return KITH_OK;
}

static const struct {
    const char *name;
    kith_status (*take)(char *value, struct xyz_comment *comment);
} keys[] = {{"Properties", take_properties},
            {"Lattice", take_lattice},
            {"pbc", take_pbc},
            {"Time", take_time},
            {"dimensions", take_dimensions}};

enum { key_count = sizeof keys / sizeof keys[0] };

static kith_status take_pair(void *comment, const char *key, char *value)
{
    for (int32_t k = 0; k < key_count; k++)
        if (strcasecmp(keys[k].name, key) == 0)
            return keys[k].take(value, comment);
    return units_take(key, value, &((struct xyz_comment *)comment)->units);
}

/* ASE's conventions: without pbc a lattice is periodic in all directions; nine zeros mean no cell.
 */
static void complete_cell(struct xyz_comment *comment)
{
    comment->has_lattice = false;
    for (int32_t k = 0; k < 9; k++)
        comment->has_lattice = comment->has_lattice || comment->lattice[k] != 0;
    for (int32_t k = 0; k < 3; k++)
        comment->pbc[k] = comment->has_lattice && (comment->pbc[k] || !comment->has_pbc);
}

kith_status xyz_comment_parse(char *line, const kith_read_options *options,
                              struct xyz_comment *comment)
{
    *comment = (struct xyz_comment){.dimensions = 3,
                                    .without_velocities = options->without_velocities,
                                    .wanted = options->other_columns};
    KITH_TRY(add_property(comment, "species", 'S', 1));
    KITH_TRY(add_property(comment, "pos", 'R', 3));
    if (strcasestr(line, "Properties=") || strcasestr(line, "Lattice="))
        KITH_TRY(key_values_each(line, take_pair, comment));
    complete_cell(comment);
    return KITH_OK;
}
