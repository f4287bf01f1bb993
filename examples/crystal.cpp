// The shells of a crystal: at which distances an atom of a face-centered cubic lattice has
// neighbors, and how many. In C++, with objects that free themselves.
//
//     crystal [CELLS] [OUTPUT.csv]
//
// In units of the cube's side there are 12 at √½, 6 at 1, 24 at √1.5, 12 at √2, 24 at √2.5. OUTPUT
// gets where the first atom's neighbors are, seen from it; crystal.gp draws them.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include <kith/kith.h>

struct release {
    void operator()(kith_context *context) const
    {
        kith_context_free(context);
    }
    void operator()(kith_pairs *pairs) const
    {
        kith_pairs_free(pairs);
    }
};
template <typename Object> using owned = std::unique_ptr<Object, release>;

static void check(kith_status status)
{
    if (status != KITH_OK)
        throw std::runtime_error(kith_error_message());
}

static std::vector<double> lattice(int cells)
{
    static const double basis[4][3] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
    std::vector<double> positions;
    for (int x = 0; x < cells; x++)
        for (int y = 0; y < cells; y++)
            for (int z = 0; z < cells; z++)
                for (const auto &atom : basis)
                    for (double place : {x + atom[0], y + atom[1], z + atom[2]})
                        positions.push_back(place);
    return positions;
}

// The first rows of the list are those of the first atom.
static void write_first(const kith_pairs &pairs, const char *path)
{
    const std::int64_t n = static_cast<const std::int64_t *>(pairs.offsets.data)[1];
    double *vector = static_cast<double *>(pairs.vectors.data);
    const kith_table_column columns[] = {
        {"dx", {vector, {KITH_CPU, 0}, 1, KITH_F64, {n}, {3}}},
        {"dy", {vector + 1, {KITH_CPU, 0}, 1, KITH_F64, {n}, {3}}},
        {"dz", {vector + 2, {KITH_CPU, 0}, 1, KITH_F64, {n}, {3}}},
        {"distance", kith_array_vector(pairs.distances.data, KITH_F64, n)},
    };
    check(kith_table_write(path, nullptr, 4, columns));
}

// Distances, rounded, and how many neighbors an atom has there.
static std::map<int, double> shells(std::vector<double> positions, int cells, const char *path)
{
    kith_context *context = nullptr;
    check(kith_context_create(nullptr, &context));
    const owned<kith_context> context_owner(context);

    const std::int64_t atoms = static_cast<std::int64_t>(positions.size()) / 3;
    const double side = cells;
    const kith_cell cell = {{{side, 0, 0}, {0, side, 0}, {0, 0, side}}, {true, true, true}};
    kith_pairs_options options = {};
    options.cutoff = 1.6;
    options.quantities = KITH_PAIRS_DISTANCES | KITH_PAIRS_VECTORS;
    kith_pairs *pairs = nullptr;
    check(kith_pairs_compute(
        context, &options, kith_array_matrix(positions.data(), KITH_F64, atoms, 3), &cell, &pairs));
    const owned<kith_pairs> pairs_owner(pairs);
    if (path)
        write_first(*pairs, path);

    std::map<int, double> count;
    const double *distance = static_cast<const double *>(pairs->distances.data);
    for (std::int64_t k = 0; k < pairs->count; k++)
        count[static_cast<int>(1e4 * distance[k] + 0.5)] += 1.0 / static_cast<double>(atoms);
    return count;
}

int main(int argc, char **argv)
{
    const int cells = argc > 1 ? std::atoi(argv[1]) : 8;
    const char *path = argc > 2 ? argv[2] : nullptr;
    try {
        for (const auto &shell : shells(lattice(cells), cells, path))
            std::printf("%.4f %4.0f\n", 1e-4 * shell.first, shell.second);
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "crystal: %s\n", problem.what());
        return 1;
    }
    return 0;
}
