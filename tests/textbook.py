"""The paper's updates written plainly, with matrix inverses and the symmetric square root.

Slow, and close to the paper's notation on purpose: this is what the optimisers are held against.
"""

from __future__ import annotations

import numpy as np


def standardised(f):
    return (f - np.mean(f)) / np.std(f, ddof=1)


def symmetric_root(Sigma):
    values, vectors = np.linalg.eigh(Sigma)
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T


def ingo(mu, Sigma, z, f, beta, part=lambda matrix: matrix):
    """Algorithm 1. z is the noise that goes with the symmetric root: x = mu + Sigma^(1/2) z.

    ``part`` is what is used of the matrix v vᵀ of each sample.
    """
    N = len(f)
    h = standardised(f)
    root_inverse = np.linalg.inv(symmetric_root(Sigma))
    precision = np.linalg.inv(Sigma)
    for i in range(N):
        v = root_inverse @ z[i]
        precision = precision + beta * h[i] / N * part(np.outer(v, v))
    Sigma_new = np.linalg.inv(precision)
    step = sum(h[i] / N * Sigma_new @ root_inverse @ z[i] for i in range(N))
    return mu - beta * step, Sigma_new


def ingo_step(mu, Sigma, z, f, beta):
    """Algorithm 2."""
    N = len(f)
    h = standardised(f)
    _, Sigma_new = ingo(mu, Sigma, z, f, beta)
    step = sum(h[i] / N * symmetric_root(Sigma) @ z[i] for i in range(N))
    return mu - beta * step, Sigma_new


def fast_ingo(mu, Sigma, z, f, beta):
    """Algorithm 1 with a diagonal Sigma: all else is thrown away."""
    return ingo(mu, Sigma, z, f, beta, part=lambda matrix: np.diag(np.diag(matrix)))


def igo(mu, Sigma, z, f, beta):
    """Gradient steps in mu and Sigma, with the same h and beta."""
    N = len(f)
    h = standardised(f)
    y = [symmetric_root(Sigma) @ z[i] for i in range(N)]
    mu_new = mu - beta * sum(h[i] / N * y[i] for i in range(N))
    Sigma_new = Sigma - beta * sum(h[i] / N * np.outer(y[i], y[i]) for i in range(N))
    return mu_new, Sigma_new


def centred_ranks(f):
    """From −1/2 for the smallest to 1/2 for the largest; all values differ."""
    order = sorted(range(len(f)), key=lambda i: f[i])
    return np.array([order.index(i) / (len(f) - 1) - 0.5 for i in range(len(f))])


def es(mu, gradients, z, f, alpha):
    """Salimans' ES: Adam as it was published, its moments summed up over all gradients so far.

    Returns the new mean, and the gradients with this one.
    """
    u = centred_ranks(f)
    gradients = [*gradients, sum(u[i] * z[i] for i in range(len(f))) / len(f)]
    t = len(gradients)
    m = sum(0.1 * 0.9 ** (t - i) * g for i, g in enumerate(gradients, start=1)) / (1 - 0.9**t)
    v = sum(0.001 * 0.999 ** (t - i) * g**2 for i, g in enumerate(gradients, start=1))
    # its epsilon is added before the correction of v, as in the form that Section 2 proposes
    return mu - alpha * m * np.sqrt(1 - 0.999**t) / (np.sqrt(v) + 1e-8), gradients


def asebo(mu, m, v, past, alpha, P, z, f, eta, eps, gamma, normalise=False):
    """ASEBO with all d×d matrices written out; P projects onto the active subspace, or is None.

    ``past`` has every earlier gradient. Returns the first six arguments of the next step.
    """
    N, d = z.shape
    h = standardised(f)
    g = sum(h[i] * z[i] for i in range(N)) / N
    if P is not None and np.trace(P) < d - 0.5:
        alpha = min(1.0, np.linalg.norm(g - P @ g) / np.linalg.norm(P @ g))
    past = [*past, g]
    t = len(past)
    Cov = sum(gamma ** (2 * (t - i)) * np.outer(a, a) for i, a in enumerate(past, start=1))
    values, vectors = np.linalg.eigh(Cov)
    n = 1
    while values[-n:].sum() < eps * values.sum():
        n += 1
    P = vectors[:, -n:] @ vectors[:, -n:].T
    if normalise:
        g = g / np.linalg.norm(g) * d
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g**2
    root = np.sqrt(v / (1 - 0.999**t)) + 1e-8 / np.sqrt(1 - 0.999**t)
    return mu - eta * m / (1 - 0.9**t) / root, m, v, past, alpha, P
