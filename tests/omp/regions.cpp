// SPDX-License-Identifier: MIT
// Regions from C++: in a lambda, in a template, in a league; what is thrown inside is caught inside.
#include <omp.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

template <typename T> static T total(const std::vector<T> &v)
{
    T sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (std::size_t i = 0; i < v.size(); i++)
        sum += v[i];
    return sum;
}

int main()
{
    std::vector<long> v(1000);
    std::iota(v.begin(), v.end(), 0);
    bool right = true;
    auto caught = [] {
        int n = 0;
#pragma omp parallel num_threads(2)
        {
            try {
                throw std::runtime_error("inside");
            } catch (const std::exception &) {
#pragma omp atomic
                n++;
            }
        }
        return n;
    };
    for (int i = 0; i < 10; i++) {
        int teams = 0;
        right = right && total(v) == 499500 && caught() == 2;
#pragma omp parallel
#pragma omp single
        right = right && omp_in_parallel();
#pragma omp teams num_teams(2) reduction(+ : teams)
        teams++;
        right = right && teams >= 1;
    }
    std::puts(right ? "right" : "wrong");
}
