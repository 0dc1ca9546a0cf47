"""PPO (Schulman et al. 2017) in plain JAX for `DeviceEnv`: the vehicles fly and the networks learn on one device."""

# mypy: allow-untyped-defs

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skyloop_client.errors import ScenarioError
from skyloop_jax.environment import DeviceEnv

LOG_2_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """The defaults learn to hover."""

    num_envs: int = 512
    horizon: int = 32
    """Steps of each vehicle between two updates."""
    epochs: int = 6
    minibatches: int = 8
    first_rate: float = 1.5e-3
    last_rate: float = 1e-4
    """Learning rates at the start and at the end, with a straight line between."""
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_cost: float = 0.5
    most_gradient: float = 0.5
    hidden: tuple[int, ...] = (64, 64)

    def __post_init__(self) -> None:
        if self.num_envs * self.horizon % self.minibatches:
            raise ScenarioError(
                f"{self.num_envs} vehicles x {self.horizon} steps do not divide into {self.minibatches} minibatches"
            )

    @property
    def steps_per_update(self) -> int:
        return self.num_envs * self.horizon


class Networks(NamedTuple):
    """Weights (out, in) and biases of the layers, and the logarithm of the actions' standard deviation."""

    policy: list[tuple[jax.Array, jax.Array]]
    value: list[tuple[jax.Array, jax.Array]]
    log_std: jax.Array


class Adam(NamedTuple):
    updates: jax.Array
    mean: Networks
    square: Networks


class Taken(NamedTuple):
    """Steps of all vehicles, (horizon, n, ...); in a minibatch (size, ...)."""

    observations: jax.Array
    actions: jax.Array
    log_probability: jax.Array
    rewards: jax.Array
    terminated: jax.Array
    over: jax.Array
    final_observations: jax.Array


class LearningProgress(NamedTuple):
    """After an update."""

    steps: int
    """Of all vehicles together, so far."""
    episodes: int
    """That ended since the last update."""
    mean_return: float
    """Of those; NaN when there were none."""


class Learner:
    """Two tanh networks, one for the mean action and one for the value. The same seed gives the same policy."""

    def __init__(self, env: DeviceEnv, settings: LearningSettings | None = None, *, seed: int = 1) -> None:
        self.env = env
        self.settings = settings or LearningSettings()
        self.steps = 0
        self._key = jax.random.PRNGKey(seed)
        self._state, self._observations = env.reset(seed, self.settings.num_envs)
        self._returns = jnp.zeros(self.settings.num_envs)
        self.networks = made_networks(self._observations.shape[1], env.meaning.size, self.settings.hidden, seed)
        nothing = jax.tree.map(jnp.zeros_like, self.networks)
        self._adam = Adam(jnp.zeros(()), nothing, nothing)

    def learn(self, steps: int) -> Iterator[LearningProgress]:
        """Fly and learn until all vehicles together have done `steps` more steps, an update at a time."""
        updates = max(1, round(steps / self.settings.steps_per_update))
        for number in range(updates):
            taken, ended = self._fly()
            share = number / updates
            rate = (1.0 - share) * self.settings.first_rate + share * self.settings.last_rate
            self._key, key = jax.random.split(self._key)
            self.networks, self._adam = _learned(self.settings, self.networks, self._adam, taken, key, rate)
            self.steps += self.settings.steps_per_update
            episodes, total = int(sum(count for count, _ in ended)), float(sum(total for _, total in ended))
            yield LearningProgress(self.steps, episodes, total / episodes if episodes else float("nan"))

    def _fly(self) -> tuple[Taken, list[tuple[jax.Array, jax.Array]]]:
        taken, ended = [], []
        for _ in range(self.settings.horizon):
            actions, log_probability, self._key = _acted(self.networks, self._observations, self._key)
            before = self._observations
            self._state, outcome = self.env.step(self._state, actions)
            over = outcome.terminated | outcome.truncated
            self._returns, *counts = _counted(self._returns, outcome.rewards, over)
            ended.append(tuple(counts))
            rewards = outcome.rewards.astype(jnp.float32)
            flags = (outcome.terminated, over)
            taken.append(Taken(before, actions, log_probability, rewards, *flags, outcome.final_observations))
            self._observations = outcome.observations
        return jax.tree.map(lambda *each: jnp.stack(each), *taken), ended


def made_networks(observed: int, size: int, hidden: tuple[int, ...], seed: int) -> Networks:
    """Orthogonal weights; the last layer of the policy is small, so that the first flights stay near hover."""
    random = np.random.default_rng(seed)

    def layers(out: int, last_gain: float) -> list[tuple[jax.Array, jax.Array]]:
        sizes = (observed, *hidden, out)
        gains = (*(np.sqrt(2.0) for _ in hidden), last_gain)
        made = []
        for into, from_, gain in zip(sizes[1:], sizes[:-1], gains, strict=True):
            tall = np.linalg.qr(random.normal(size=(max(into, from_), min(into, from_))))[0]
            weight = tall if into >= from_ else tall.T
            made.append((jnp.asarray(gain * weight, jnp.float32), jnp.zeros(into, jnp.float32)))
        return made

    return Networks(layers(size, 0.01), layers(1, 1.0), jnp.full(size, -0.5, jnp.float32))


def applied(layers, values):
    *hidden, (last, bias) = layers
    for weight, shift in hidden:
        values = jnp.tanh(values @ weight.T + shift)
    return values @ last.T + bias


def _log_probability(networks, observations, actions):
    away = (actions - applied(networks.policy, observations)) * jnp.exp(-networks.log_std)
    return -0.5 * (away * away + LOG_2_PI).sum(axis=-1) - networks.log_std.sum()


@jax.jit
def _acted(networks, observations, key):
    key, used = jax.random.split(key)
    mean = applied(networks.policy, observations)
    actions = mean + jnp.exp(networks.log_std) * jax.random.normal(used, mean.shape, mean.dtype)
    return actions, _log_probability(networks, observations, actions), key


@jax.jit
def _counted(returns, rewards, over):
    """Returns so far, the number of episodes that ended, and the sum of their returns."""
    returns = returns + rewards.astype(returns.dtype)
    return jnp.where(over, 0.0, returns), over.sum(), jnp.where(over, returns, 0.0).sum()


def _advantages(settings, networks, taken):
    """Generalised advantage estimation, and the values to learn. What follows a time limit is estimated."""
    values = applied(networks.value, taken.observations)[..., 0]
    following = jnp.where(taken.terminated, 0.0, applied(networks.value, taken.final_observations)[..., 0])
    errors = taken.rewards + settings.gamma * following - values

    def backwards(later, step):
        error, over = step
        advantage = error + settings.gamma * settings.gae_lambda * jnp.where(over, 0.0, later)
        return advantage, advantage

    _, advantages = jax.lax.scan(backwards, jnp.zeros_like(values[0]), (errors, taken.over), reverse=True)
    return advantages, values + advantages


def _loss(settings, networks, batch):
    taken, advantages, wanted = batch
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = jnp.exp(_log_probability(networks, taken.observations, taken.actions) - taken.log_probability)
    clipped = jnp.clip(ratio, 1.0 - settings.clip, 1.0 + settings.clip)
    gained = jnp.minimum(ratio * advantages, clipped * advantages).mean()
    missed = applied(networks.value, taken.observations)[..., 0] - wanted
    return settings.value_cost * (missed * missed).mean() - gained


@partial(jax.jit, static_argnums=0)
def _learned(settings, networks, adam, taken, key, rate):
    """The networks after one update: some passes over all steps, in minibatches of random order."""
    batch = (taken, *_advantages(settings, networks, taken))
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), batch)

    def minibatch(carry, chosen):
        networks, adam = carry
        gradient = jax.grad(partial(_loss, settings))(networks, jax.tree.map(lambda leaf: leaf[chosen], flat))
        return _descended(networks, adam, gradient, rate, settings.most_gradient), None

    count, keys = settings.steps_per_update, jax.random.split(key, settings.epochs)
    orders = [jax.random.permutation(used, count) for used in keys]
    chosen = jnp.concatenate(orders).reshape(settings.epochs * settings.minibatches, -1)
    return jax.lax.scan(minibatch, (networks, adam), chosen)[0]


def _descended(networks, adam, gradient, rate, most):
    """One step of Adam (Kingma and Ba 2015), with the gradient's length limited."""
    length = jnp.sqrt(sum((leaf * leaf).sum() for leaf in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda leaf: leaf * jnp.minimum(1.0, most / (length + 1e-6)), gradient)
    count = adam.updates + 1.0
    mean = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, adam.mean, gradient)
    square = jax.tree.map(lambda old, new: 0.999 * old + 0.001 * new * new, adam.square, gradient)

    def stepped(leaf, m, v):
        change = m / (1.0 - 0.9**count) / (jnp.sqrt(v / (1.0 - 0.999**count)) + 1e-5)
        return (leaf - rate * change).astype(leaf.dtype)

    return jax.tree.map(stepped, networks, mean, square), Adam(count, mean, square)


def save_policy(networks: Networks, path: Path) -> None:
    """The layers as plain arrays (`weight_0`, `bias_0`, ...), which numpy reads without JAX and without pickle."""
    arrays: dict[str, Any] = {}
    for k, (weight, bias) in enumerate(networks.policy):
        arrays[f"weight_{k}"], arrays[f"bias_{k}"] = np.asarray(weight), np.asarray(bias)
    np.savez(path, **arrays)
