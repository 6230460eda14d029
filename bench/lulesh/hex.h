/* SPDX-License-Identifier: MIT */
/*
 * Geometry of one hexahedron, the only element there is.
 *
 *            7-------6            zeta                An element's corners are numbered round its bottom, then round
 *           /|      /|             |  eta             its top. A quantity that lives on corners is loaded into a
 *          4-------5 |             | /                struct hex first; everything here works on such copies and
 *          | 3-----|-2             |/                 touches no array of the domain.
 *          |/      |/              +---- xi
 *          0-------1
 *
 * All functions are pure and inline: with the corner numbers known at compile time they unroll into straight code.
 */
#pragma once

#include <math.h>

/* One array per coordinate, over all nodes or all elements of a block. */
struct vec3 {
    double *x, *y, *z;
};

struct point {
    double x, y, z;
};

/* fmax() is a call: it has to care for NaN. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A vector on each corner: positions, velocities, forces, gradients. */
struct hex {
    double x[8], y[8], z[8];
};

static inline double dot(struct point a, struct point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct point cross(struct point a, struct point b)
{
    return (struct point){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

static inline void hex_load(struct hex *h, struct vec3 field, const int node[8])
{
    for (int c = 0; c < 8; c++) {
        h->x[c] = field.x[node[c]];
        h->y[c] = field.y[node[c]];
        h->z[c] = field.z[node[c]];
    }
}

/* field += h, corner by corner. */
static inline void hex_add_to(const struct hex *h, struct vec3 field, const int node[8])
{
    for (int c = 0; c < 8; c++) {
        field.x[node[c]] += h->x[c];
        field.y[node[c]] += h->y[c];
        field.z[node[c]] += h->z[c];
    }
}

/* The edge or diagonal from corner a to corner b. */
static inline struct point hex_span(const struct hex *h, int a, int b)
{
    return (struct point){ h->x[b] - h->x[a], h->y[b] - h->y[a], h->z[b] - h->z[a] };
}

static inline struct point plus(struct point a, struct point b)
{
    return (struct point){ a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline struct point minus(struct point a, struct point b)
{
    return (struct point){ a.x - b.x, a.y - b.y, a.z - b.z };
}

static inline struct point scaled(double f, struct point a)
{
    return (struct point){ f * a.x, f * a.y, f * a.z };
}

static inline double triple(struct point a, struct point b, struct point c)
{
    return dot(a, cross(b, c));
}

/* Exact volume, also where the faces are not flat: three triple products round the diagonal 0-6. */
static inline double hex_volume(const struct hex *h)
{
    const struct point a = plus(hex_span(h, 1, 3), hex_span(h, 2, 7));
    const struct point b = plus(hex_span(h, 3, 4), hex_span(h, 7, 5));
    const struct point c = plus(hex_span(h, 4, 1), hex_span(h, 5, 2));

    return (triple(a, hex_span(h, 3, 6), hex_span(h, 0, 2)) + triple(b, hex_span(h, 4, 6), hex_span(h, 0, 7)) +
            triple(c, hex_span(h, 1, 6), hex_span(h, 0, 5))) * (1.0 / 12.0);
}

/* 16 times the squared area of a face (exact for a flat one). */
static inline double hex_face_area(const struct hex *h, int a, int b, int c, int d)
{
    const struct point ac = hex_span(h, a, c), bd = hex_span(h, b, d);
    const struct point f = minus(ac, bd), g = plus(ac, bd);
    const double fg = dot(f, g);

    return dot(f, f) * dot(g, g) - fg * fg;
}

/* The length that sound has to cross: volume over the largest face. */
static inline double hex_length(const struct hex *h, double volume)
{
    double area = hex_face_area(h, 0, 1, 2, 3);

    area = larger(area, hex_face_area(h, 4, 5, 6, 7));
    area = larger(area, hex_face_area(h, 0, 1, 5, 4));
    area = larger(area, hex_face_area(h, 1, 2, 6, 5));
    area = larger(area, hex_face_area(h, 2, 3, 7, 6));
    area = larger(area, hex_face_area(h, 3, 0, 4, 7));
    return 4.0 * volume / sqrt(area);
}

/*
 * Columns of the Jacobian at the element's centre, from its four diagonals: how position changes along xi, eta, zeta.
 */
static inline void hex_jacobian(const struct hex *h, struct point *xi, struct point *eta, struct point *zeta)
{
    const struct point d06 = hex_span(h, 0, 6), d35 = hex_span(h, 3, 5);
    const struct point d17 = hex_span(h, 1, 7), d24 = hex_span(h, 2, 4);
    const struct point sum = plus(d06, d35), difference = minus(d06, d35);

    *xi = scaled(0.125, minus(minus(sum, d17), d24));
    *eta = scaled(0.125, minus(plus(difference, d17), d24));
    *zeta = scaled(0.125, plus(plus(sum, d17), d24));
}

/*
 * Derivatives of the shape functions (times the volume) on corners 0..3 in b; corners 6, 7, 4, 5 are their negatives.
 * Returns the volume as the Jacobian sees it, which has the sign of the element's orientation.
 */
static inline double hex_shape(const struct hex *h, struct point b[4])
{
    struct point xi, eta, zeta;

    hex_jacobian(h, &xi, &eta, &zeta);
    const struct point cxi = cross(eta, zeta), ceta = cross(zeta, xi), czeta = cross(xi, eta);

    b[0] = minus(minus(scaled(-1.0, cxi), ceta), czeta);
    b[1] = minus(minus(cxi, ceta), czeta);
    b[2] = minus(plus(cxi, ceta), czeta);
    b[3] = minus(minus(ceta, cxi), czeta);
    return 8.0 * dot(eta, ceta);
}

static inline void hex_add_face_normal(struct hex *out, const struct hex *h, int a, int b, int c, int d)
{
    const struct point u = scaled(0.5, plus(hex_span(h, a, d), hex_span(h, b, c)));
    const struct point w = scaled(0.5, plus(hex_span(h, a, b), hex_span(h, d, c)));
    const struct point n = scaled(0.25, cross(u, w));
    const int corner[4] = { a, b, c, d };

    for (int i = 0; i < 4; i++) {
        out->x[corner[i]] += n.x;
        out->y[corner[i]] += n.y;
        out->z[corner[i]] += n.z;
    }
}

/* The share of the surface that each corner carries, as a vector that points outwards. */
static inline void hex_normals(struct hex *out, const struct hex *h)
{
    *out = (struct hex){ { 0.0 }, { 0.0 }, { 0.0 } };
    hex_add_face_normal(out, h, 0, 1, 2, 3);
    hex_add_face_normal(out, h, 0, 4, 5, 1);
    hex_add_face_normal(out, h, 1, 5, 6, 2);
    hex_add_face_normal(out, h, 2, 6, 7, 3);
    hex_add_face_normal(out, h, 3, 7, 4, 0);
    hex_add_face_normal(out, h, 4, 7, 6, 5);
}

/* d(volume) / d(one coordinate of a corner); u and w are the other two coordinates, n its six fellow corners. */
static inline double hex_volume_slope(const double u[8], const double w[8], const int n[6])
{
    return ((u[n[1]] + u[n[2]]) * (w[n[0]] + w[n[1]]) - (u[n[0]] + u[n[1]]) * (w[n[1]] + w[n[2]]) +
            (u[n[0]] + u[n[4]]) * (w[n[3]] + w[n[4]]) - (u[n[3]] + u[n[4]]) * (w[n[0]] + w[n[4]]) -
            (u[n[2]] + u[n[5]]) * (w[n[3]] + w[n[5]]) + (u[n[3]] + u[n[5]]) * (w[n[2]] + w[n[5]])) * (1.0 / 12.0);
}

/* d(volume) / d(corner), for all corners. The three coordinates are cyclic permutations of one formula. */
static inline void hex_volume_gradient(struct hex *out, const struct hex *h)
{
    static const int fellow[8][6] = {
        { 1, 2, 3, 4, 5, 7 }, { 2, 3, 0, 5, 6, 4 }, { 3, 0, 1, 6, 7, 5 }, { 0, 1, 2, 7, 4, 6 },
        { 7, 6, 5, 0, 3, 1 }, { 4, 7, 6, 1, 0, 2 }, { 5, 4, 7, 2, 1, 3 }, { 6, 5, 4, 3, 2, 0 },
    };

    for (int c = 0; c < 8; c++) {
        out->x[c] = hex_volume_slope(h->y, h->z, fellow[c]);
        out->y[c] = hex_volume_slope(h->z, h->x, fellow[c]);
        out->z[c] = hex_volume_slope(h->x, h->y, fellow[c]);
    }
}

/* Mean of face (a, b, c, d) minus mean of face (e, f, g, i): the element's extent between two opposite faces. */
static inline double hex_face_step(const double u[8], const int to[4], const int from[4])
{
    return 0.25 * ((u[to[0]] + u[to[1]] + u[to[2]] + u[to[3]]) -
                   (u[from[0]] + u[from[1]] + u[from[2]] + u[from[3]]));
}
