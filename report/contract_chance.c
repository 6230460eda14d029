/* SPDX-License-Identifier: MIT */
/* How far chance goes: quantiles for the upper tail of p < 0.5; see contract.h. */
#include <math.h>

#include "report/contract.h"

/* Quantile of the normal distribution for an upper tail p < 0.5: Abramowitz and Stegun 26.2.23, within 4.5e-4. */
double report_normal_quantile(double p)
{
    double t = sqrt(-2 * log(p));

    return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* Hill, "Algorithm 396: Student's t-quantiles", CACM 13 (1970); exact for one degree of freedom and two. */
double report_t_quantile(double p, double freedom)
{
    if (freedom < 1.5)
        return tan(M_PI * (0.5 - p));
    if (freedom < 2.5)
        return (1 - 2 * p) / sqrt(2 * p * (1 - p));
    double a = 1 / (freedom - 0.5), b = 48 / (a * a), c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI / 2) * freedom, x = d * 2 * p, y = pow(x, 2 / freedom);

    if (y > 0.05 + a) {
        x = -report_normal_quantile(p);
        y = x * x;
        c += freedom < 5 ? 0.3 * (freedom - 4.5) * (x + 0.6) : 0;
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((freedom + 6) / (freedom * y) - 0.089 * d - 0.822) * (freedom + 2) * 3) + 0.5 / (freedom + 4)) * y -
             1) *
                (freedom + 1) / (freedom + 2) +
            1 / y;
    }
    return sqrt(freedom * y);
}
