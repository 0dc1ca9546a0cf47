"""Motions keep to their limits over their whole length and clear of what is seen; without room there is a way out."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.integrate import quad

from skyloop_autonomy.planning.clearance import gap_to_movers
from skyloop_autonomy.planning.local_planner import (
    LocalPlannerConfig,
    Manoeuvre,
    back_up,
    is_still_clear,
    plan_motion,
)
from skyloop_autonomy.planning.primitives import Motion, at_rest, keeps_within, motion_between

CONFIG = LocalPlannerConfig()
HERE = np.array([[0.0, 0.0, 1.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
EMPTY = np.empty((0, 3))


def flying(velocity: tuple[float, float, float]) -> np.ndarray:
    start = HERE.copy()
    start[1] = velocity
    return start


def wall(x: float, y: tuple[float, float], z: tuple[float, float] = (0.0, 5.0)) -> np.ndarray:
    ys, zs = np.meshgrid(np.arange(*y, 0.1), np.arange(*z, 0.1))
    return np.column_stack([np.full(ys.size, x), ys.ravel(), zs.ravel()])


def track(motion: Motion, n: int = 2000) -> np.ndarray:
    """(n, 4, 3) position, velocity, acceleration and jerk."""
    return np.array([motion.at(t) for t in np.linspace(0.0, motion.duration, n, endpoint=False)])


def clearance(manoeuvre: Manoeuvre, cloud: np.ndarray) -> float:
    positions = track(manoeuvre.motion, 300)[:, 0]
    return float(np.linalg.norm(positions[:, None] - cloud[None], axis=2).min())


def random_motion(seed: int) -> Motion:
    chance = np.random.default_rng(seed)
    start = chance.normal(size=(3, 3)) * [[1.0], [0.5], [0.5]]
    return motion_between(start, chance.normal(size=3) * 2.0, chance.uniform(0.5, 5.0))


def test_a_motion_begins_in_its_state_and_ends_at_rest() -> None:
    start = np.array([[1.0, 2.0, 3.0], [0.4, -0.3, 0.1], [0.2, 0.1, -0.5]])
    end = np.array([2.0, 1.0, 3.5])
    motion = motion_between(start, end, 2.5)
    assert np.allclose(motion.at(0.0)[:3], start)
    assert np.allclose(motion.at(2.5 - 1e-9)[:3], [end, np.zeros(3), np.zeros(3)], atol=1e-6)
    assert np.allclose(motion.at(99.0), [end, np.zeros(3), np.zeros(3), np.zeros(3)])
    h = 1e-5
    middle, before, after = motion.at(1.0), motion.at(1.0 - h), motion.at(1.0 + h)
    assert np.allclose((after[:3] - before[:3]) / (2 * h), middle[1:], atol=1e-5), "derivatives are those of the place"


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_over_the_whole_motion_and_are_tight(seed: int) -> None:
    motion = random_motion(seed)
    seen = np.linalg.norm(track(motion)[:, 1:], axis=2).max(axis=0)
    bounds = np.array(motion.bounds())
    assert (bounds >= seen).all()
    assert (bounds <= 1.03 * seen + 1e-9).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_other_polynomial_of_its_degree_has_less_acceleration(seed: int) -> None:
    motion = random_motion(seed)

    def effort(extra: float) -> float:
        bump = np.array([0.0, 0.0, 0.0, 1.0, -3.0, 3.0, -1.0])
        other = Motion(motion.coefficients + extra * bump[:, None], motion.duration)
        return float(quad(lambda t: float((other.at(t)[2] ** 2).sum()), 0.0, motion.duration)[0])

    assert effort(0.0) < min(effort(0.05), effort(-0.05))


@pytest.mark.parametrize("velocity", [(0.0, 0.0, 0.0), (0.8, 0.0, 0.0), (-0.5, 0.5, 0.0), (0.0, 0.0, -0.4)])
def test_in_the_open_it_flies_to_the_sub_goal_within_its_limits(velocity: tuple[float, float, float]) -> None:
    aim = np.array([2.0, 1.0, 2.0])
    manoeuvre = plan_motion(flying(velocity), aim, EMPTY, CONFIG)
    assert manoeuvre is not None and manoeuvre.kind == "fly"
    along = (manoeuvre.motion.at(99.0)[0] - HERE[0]) / (aim - HERE[0])
    assert np.allclose(along, along[0]) and 0.2 < along[0] < 1.001, "it comes to rest on the line to the sub-goal"
    peak = np.linalg.norm(track(manoeuvre.motion)[:, 1:], axis=2).max(axis=0)
    assert (peak <= [CONFIG.max_speed, CONFIG.max_acceleration, CONFIG.max_jerk]).all()
    assert peak[0] > 0.6, "it does not dawdle"


def test_a_faster_limit_is_used() -> None:
    slow, fast = (
        plan_motion(HERE, np.array([3.0, 0.0, 1.5]), EMPTY, LocalPlannerConfig(max_speed=speed)) for speed in (0.5, 1.8)
    )
    assert (
        slow is not None
        and fast is not None
        and np.linalg.norm(slow.motion.at(0.6)[1]) < 0.8 * np.linalg.norm(fast.motion.at(0.6)[1])
    )


def test_it_goes_around_a_pillar_on_either_side() -> None:
    pillar = wall(1.5, (-0.3, 0.3))
    for shift in (-0.3, 0.3):
        moved = pillar + np.array([0.0, shift, 0.0])
        manoeuvre = plan_motion(HERE, np.array([3.0, 0.0, 1.5]), moved, CONFIG)
        assert manoeuvre is not None
        end = manoeuvre.motion.at(99.0)[0]
        assert end[0] > 0.6 and end[1] * shift < 0.0, "on the side where less turning is needed"
        assert clearance(manoeuvre, moved) >= CONFIG.radius


def test_it_climbs_over_a_low_wall_but_not_above_its_ceiling() -> None:
    low = wall(1.5, (-6.0, 6.0), (0.0, 1.6))
    aim = np.array([3.0, 0.0, 1.5])
    manoeuvre = plan_motion(HERE, aim, low, CONFIG)
    assert manoeuvre is not None and clearance(manoeuvre, low) >= CONFIG.radius
    assert manoeuvre.motion.at(99.0)[0][2] > 1.9
    held_down = plan_motion(HERE, aim, low, LocalPlannerConfig(ceiling=1.9))
    assert held_down is None or held_down.motion.at(99.0)[0][2] <= 1.9 + 1e-9


def test_momentum_towards_a_wall_is_reckoned_with() -> None:
    """The ray along the wall is free, but the curve that the vehicle can fly is not unless it swings less."""
    beside = wall(0.75, (-4.0, 4.0))
    manoeuvre = plan_motion(flying((0.5, 0.0, 0.0)), np.array([0.0, 3.0, 1.5]), beside, CONFIG)
    if manoeuvre is not None:
        assert clearance(manoeuvre, beside) >= CONFIG.radius
    assert plan_motion(flying((0.9, 0.0, 0.0)), np.array([0.0, 3.0, 1.5]), wall(0.6, (-4.0, 4.0)), CONFIG) is None


def enclosure(half: float) -> np.ndarray:
    sides = [wall(half, (-half, half)), wall(-half, (-half, half))]
    return np.vstack([*sides, *[side[:, [1, 0, 2]] for side in sides]])


def test_with_nothing_free_it_hovers_or_brakes() -> None:
    cage = enclosure(0.5)
    assert plan_motion(HERE, np.array([3.0, 0.0, 1.5]), cage, LocalPlannerConfig(ceiling=1.6, floor=1.4)) is None
    assert back_up(HERE, cage, CONFIG).kind == "hover"
    ahead = wall(1.2, (-3.0, 3.0))
    manoeuvre = back_up(flying((0.8, 0.0, 0.0)), ahead, CONFIG)
    assert manoeuvre.kind == "brake" and clearance(manoeuvre, ahead) >= CONFIG.radius
    states = np.linalg.norm(track(manoeuvre.motion)[:, 1:], axis=2).max(axis=0)
    assert states[1] <= CONFIG.max_acceleration and states[2] <= CONFIG.max_jerk
    assert np.abs(manoeuvre.motion.at(99.0)[0] - HERE[0]).max() < 0.7


def test_too_near_to_a_wall_it_backs_off() -> None:
    near = wall(0.3, (-2.0, 2.0))
    manoeuvre = back_up(HERE, near, CONFIG)
    assert manoeuvre.kind == "back off"
    end = manoeuvre.motion.at(99.0)[0]
    assert 0.3 - end[0] >= CONFIG.radius and clearance(manoeuvre, near) >= 0.28


def test_from_too_near_it_may_leave_but_not_fly_along() -> None:
    near = wall(0.3, (-2.0, 4.0))
    away = plan_motion(HERE, np.array([-2.0, 0.0, 1.5]), near, CONFIG)
    assert away is not None and away.motion.at(99.0)[0][0] < -0.4
    along = plan_motion(HERE, np.array([0.0, 3.0, 1.5]), near, CONFIG)
    assert along is not None and 0.3 - along.motion.at(99.0)[0][0] >= CONFIG.radius


def test_points_far_off_or_not_a_number_do_not_matter() -> None:
    cloud = np.vstack([wall(9.0, (-2.0, 2.0)), np.full((5, 3), np.nan), np.full((5, 3), np.inf)])
    aim = np.array([2.0, 0.0, 1.5])
    seen, alone = plan_motion(HERE, aim, cloud, CONFIG), plan_motion(HERE, aim, EMPTY, CONFIG)
    assert seen is not None and alone is not None
    assert np.array_equal(seen.motion.coefficients, alone.motion.coefficients)


def walker(x: float, y: float, vx: float, vy: float) -> np.ndarray:
    return np.array([[x, y, 0.9, vx, vy, 0.0, 0.3, 0.9]])


def gap(manoeuvre: Manoeuvre, mover: np.ndarray) -> float:
    """The smallest horizontal distance to the side of a walker until the motion ends."""
    times = np.linspace(0.0, min(manoeuvre.motion.duration, 3.0), 400)
    mine = np.array([manoeuvre.motion.at(t)[0][:2] for t in times])
    theirs = mover[0, :2] + times[:, None] * mover[0, 3:5]
    return float(np.linalg.norm(mine - theirs, axis=1).min() - mover[0, 6])


def test_a_walker_who_crosses_is_predicted() -> None:
    aim = np.array([3.0, 0.0, 1.5])
    straight = plan_motion(HERE, aim, EMPTY, CONFIG, walker(1.0, -1.8, 0.0, 0.0))
    assert straight is not None and np.allclose(straight.motion.at(99.0)[0][1:], aim[1:])
    crossing = walker(straight.motion.at(2.0)[0][0], -1.8, 0.0, 0.9)
    assert gap(straight, crossing) < CONFIG.radius, "the same motion would meet a walker who goes on"
    dodged = plan_motion(HERE, aim, EMPTY, CONFIG, crossing)
    assert dodged is not None and gap(dodged, crossing) >= CONFIG.radius - 1e-6


def test_somebody_walking_into_the_hovering_vehicle_makes_it_back_off() -> None:
    coming = walker(2.0, 0.1, -1.0, 0.0)
    manoeuvre = back_up(HERE, EMPTY, CONFIG, coming)
    stay = np.repeat(HERE[:1], 33, axis=0)
    assert manoeuvre.kind == "back off"
    assert gap(manoeuvre, coming) > gap_to_movers(stay, 1.0, coming) + 0.1
    assert back_up(HERE, EMPTY, CONFIG, walker(2.0, 0.1, 1.0, 0.0)).kind == "hover"


def test_a_motion_is_checked_again_against_what_is_seen_later() -> None:
    manoeuvre = plan_motion(HERE, np.array([3.0, 0.0, 1.5]), EMPTY, CONFIG)
    assert manoeuvre is not None
    middle = 0.5 * manoeuvre.motion.at(99.0)[0][0]
    assert is_still_clear(manoeuvre.motion, 0.1, EMPTY, CONFIG)
    assert not is_still_clear(manoeuvre.motion, 0.1, wall(middle, (-1.0, 1.0)), CONFIG)
    assert is_still_clear(manoeuvre.motion, manoeuvre.motion.duration - 0.1, wall(0.0, (-1.0, 1.0)), CONFIG), "past it"
    assert is_still_clear(at_rest(HERE[0]), 5.0, EMPTY, CONFIG)


def test_a_band_without_height_is_refused() -> None:
    with pytest.raises(ValidationError, match="make ceiling larger"):
        LocalPlannerConfig(floor=2.0, ceiling=1.0)


@pytest.mark.parametrize("speed", [0.0, 0.9, 4.0, 12.0])
def test_a_stop_begins_where_the_vehicle_is_and_ends_at_rest_ahead_of_it(speed: float) -> None:
    """Also after a blow that no limit of the planner allows for; the stop must not end at the world's origin."""
    start = np.array([[50.0, 3.0, 1.5], [speed, 0.0, 0.0], [0.5 * speed, 0.0, 0.0]])
    stop = back_up(start, np.empty((0, 3)), CONFIG)
    assert np.allclose(stop.motion.at(0.0)[:2], start[:2])
    positions = np.array([stop.motion.at(t)[0] for t in np.linspace(0.0, stop.motion.duration, 60)])
    assert np.linalg.norm(stop.motion.at(99.0)[1]) < 1e-6 and positions[:, 0].min() >= 50.0 - 1e-6
    assert positions[:, 0].max() - positions[-1, 0] <= 0.1 * (1.0 + speed), "it hardly turns back"


def test_the_quick_check_of_limits_says_what_the_bounds_say() -> None:
    random = np.random.default_rng(4)
    said = []
    for _ in range(400):
        start = np.vstack([np.zeros(3), random.normal(0.0, 0.4, 3), random.normal(0.0, 0.3, 3)])
        motion = motion_between(start, random.normal(0.0, 1.0, 3), float(random.uniform(1.0, 6.0)))
        most = tuple(random.uniform(0.5, 1.5, 3) * [0.9, 1.2, 3.0])
        within = all(bound <= limit for bound, limit in zip(motion.bounds(), most, strict=True))
        assert keeps_within(motion.coefficients, motion.duration, most) == within
        said.append(within)
    assert 40 < sum(said) < 360


def test_a_motion_that_begins_too_near_to_a_person_may_lead_away_but_not_nearer() -> None:
    """Somebody stands 0.2 m beside the vehicle."""
    person = np.array([[0.5, 0.0, 0.9, 0.0, 0.0, 0.0, 0.3, 0.9]])
    start = np.vstack([[0.0, 0.0, 1.5], np.zeros((2, 3))])
    away = plan_motion(start, np.array([-2.0, 0.0, 1.5]), np.empty((0, 3)), LocalPlannerConfig(), person)
    assert away is not None and away.motion.at(np.inf)[0, 0] < -0.5
    towards = plan_motion(start, np.array([2.0, 0.0, 1.5]), np.empty((0, 3)), LocalPlannerConfig(), person)
    if towards is not None:
        positions = np.array([towards.motion.at(t)[0] for t in np.linspace(0.0, towards.motion.duration, 50)])
        assert np.hypot(positions[:, 0] - 0.5, positions[:, 1])[positions[:, 2] < 2.2].min() > 0.47
