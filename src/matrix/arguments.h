#ifndef MATRIX_ARGUMENTS_H
#define MATRIX_ARGUMENTS_H

#include "kith/matrix.h"
#include "law/law.h"
#include "particles/columns.h"

/* The checked arguments that the functions of the public header share. */
struct matrix_arguments {
    kith_context *context;
    const kith_law *law;
    kith_law *own_law; /* gravity, if the caller gave none */
    struct law_view view;
    kith_matrix_options options;
    struct particles_side rows, columns;
    bool same; /* the rows are the columns */
    bool on_device;
    int64_t row_count, column_count;
    int32_t dimensions;
    kith_dtype dtype;
};

/* Validates the arguments and fills *arguments, which is freed with matrix_drop_arguments, also
 * after a failure. Numbers of arrays are checked where they are packed. */
kith_status matrix_take_arguments(kith_context *context, const kith_law *law,
                                  const kith_matrix_options *options, const kith_particles *rows,
                                  const kith_particles *columns,
                                  struct matrix_arguments *arguments);
void matrix_drop_arguments(struct matrix_arguments *arguments);

/* An array that is not none and is of its shape and type, on the particles' device. A result
 * overlaps none of them too. */
kith_status matrix_check_input(const struct matrix_arguments *arguments,
                               const struct named_array *input);
kith_status matrix_check_result(const struct matrix_arguments *arguments,
                                const struct named_array *result);

#endif
