#ifndef TREE_SAMPLES_H
#define TREE_SAMPLES_H

/* At most this many targets' errors are found, of this many strata (tree/estimate.h). What is
 * compiled at run time reads this. */
enum { tree_samples = 96, tree_strata = 33 };

#endif
