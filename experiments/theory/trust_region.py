"""Does the closed form of Theorem 3 solve the trust-region problem?

python -m experiments.theory.trust_region --instances 50 --to results/tables/theory/trust_region.csv
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import optimize

from algorithms import framework
from algorithms.shared.interface import Array
from experiments.runs.seeds import stream
from experiments.theory import bounds, shared


def table(instances: int, root_seed: int) -> pd.DataFrame:
    """The closed forms against scipy's numerical solution of the trust-region problems, in 2-D.

    ⟨θ, v⟩ + KL(p_θ ‖ p_{θ_t})/β over μ and the Cholesky factor of Σ (its diagonal as logarithms).
    One row per instance and problem: "theorem_3" is in θ = (μ, Σ), "framework" in the mean
    parameters (Eq. EstimatorOP). ``error`` is the largest difference of any entry, relative to the
    largest entry or to 1. ``gap`` is the closed form's objective minus the solver's, negative where
    the closed form is the better one.
    """
    rng = stream(root_seed, "trust_region")
    rows = []
    for k in range(instances):
        root = np.eye(2) + rng.standard_normal((2, 2)) / 2
        mu, g = rng.standard_normal(2), rng.standard_normal(2)
        Sigma, beta = root @ root.T, float(np.exp(rng.uniform(-2, 0)))
        inverse = np.linalg.inv(Sigma).astype(float)
        H = rng.standard_normal((2, 2))
        # any symmetric G that leaves Σ'⁻¹ positive definite; otherwise there is no minimum
        G = framework.project(H, -0.9 * float(np.linalg.eigvalsh(inverse)[0]) / (2 * beta), 2.0)
        for name, moved in (("theorem_3", "old"), ("framework", "new")):
            f = objective(mu, Sigma, g, G, beta, moved)
            found = optimize.minimize(f, pack(mu, Sigma), jac="3-point", options={"gtol": 1e-9})
            x_mu, x_Sigma = unpack(found.x)
            c_mu, c_Sigma = bounds.closed_form(inverse, mu, g, G, beta, moved)
            size = max(1.0, np.abs(c_mu).max(), np.abs(c_Sigma).max())
            error = np.max([np.abs(x_mu - c_mu).max(), np.abs(x_Sigma - c_Sigma).max()]) / size
            rows.append(
                {
                    "problem": name,
                    "instance": k,
                    "beta": beta,
                    "moved": np.abs(c_mu - mu).max(),
                    "error": error,
                    "gap": f(pack(c_mu, c_Sigma)) - found.fun,
                }
            )
    return pd.DataFrame(rows)


def objective(
    mu_t: Array, Sigma_t: Array, g: Array, G: Array, beta: float, moved: str
) -> Callable[[Array], float]:
    """What a trust-region problem minimises, as a function of packed (μ, Σ).

    ⟨μ, g⟩ + ⟨Σ, G⟩ + KL/β ("old"); in the mean parameters ⟨μ, g − 2Gμ_t⟩ + ⟨Σ + μμᵀ, G⟩ + KL/β
    ("new").
    """
    inverse = np.linalg.inv(Sigma_t)

    def value(packed: Array) -> float:
        mu, Sigma = unpack(packed)
        u = mu - mu_t
        kl = u @ inverse @ u + np.trace(inverse @ Sigma) - 2
        kl += np.log(np.linalg.det(Sigma_t) / np.linalg.det(Sigma))
        linear = mu @ g + np.sum(G * Sigma)
        if moved == "new":
            linear += mu @ G @ mu - 2 * mu @ G @ mu_t
        return float(linear + kl / (2 * beta))

    return value


def pack(mu: Array, Sigma: Array) -> Array:
    """(μ, Σ) as five unconstrained numbers."""
    c = np.linalg.cholesky(Sigma)
    return np.array([*mu, np.log(c[0, 0]), c[1, 0], np.log(c[1, 1])])


def unpack(packed: Array) -> tuple[Array, Array]:
    """(μ, Σ) of these five numbers."""
    c = np.array([[np.exp(packed[2]), 0.0], [packed[3], np.exp(packed[4])]])
    return packed[:2], c @ c.T


def main(arguments: list[str] | None = None) -> None:
    """Write the table."""
    shared.write("trust_region", __doc__, table, arguments)


if __name__ == "__main__":
    main()
