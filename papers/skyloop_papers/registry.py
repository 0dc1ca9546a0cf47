"""The experiments of `skyloop reproduce` by name. An experiment is imported only on request."""

REPRODUCTIONS = {
    "drag": (
        "skyloop_papers.drag.experiment",
        "rotor drag against linear drag, section 3 of the depth-noise-and-rotor-drag paper",
    ),
    "depth-noise": (
        "skyloop_papers.depth_noise.experiment",
        "depth camera noise by distance and material, section 2 of the depth-noise-and-rotor-drag paper",
    ),
    "radar": (
        "skyloop_papers.radar.experiment",
        "FMCW radar: Table 3, antennas, two walks, sections IV-D and V-D of the airloop paper",
    ),
    "offline": (
        "skyloop_papers.offline.experiment",
        "frames per second of a recording by radar, storage and quality, Table 5 of the airloop paper",
    ),
    "sync-hil": (
        "skyloop_papers.sync_hil.experiment",
        "software on the host, on a slow target, and there without synchronised time, synchronised-hil",
    ),
    "online": (
        "skyloop_papers.online.experiment",
        "frames per second over the link, same and different machines, one and five ports, Table 6 of airloop",
    ),
    "mission": (
        "skyloop_papers.mission.experiment",
        "a rectangle of four GPS waypoints as a MAVLink mission on the EKF, section V-E1 of the airloop paper",
    ),
    "e2es": (
        "skyloop_papers.e2es.experiment",
        "localisation with two cameras and an IMU in a room and a corridor, sections 5.1 and 5.3 of e2es",
    ),
    "e2es-missions": (
        "skyloop_papers.e2es_missions.experiment",
        "flights to six goals between unknown obstacles on odometry, and their maps, sections 5.1 and 5.2 of e2es",
    ),
    "unknown-city": (
        "skyloop_papers.unknown_city.experiment",
        "autonomous flights through an unknown city on LiDAR, with and without GNSS, section V-E2 of the airloop paper",
    ),
    "landing": (
        "skyloop_papers.landing.experiment",
        "one hundred landings on a marker by camera, on four boards, Fig. 4 and Tables I to III of fpga-landing-hil",
    ),
    "detection": (
        "skyloop_papers.detection.experiment",
        "people found in images of places not trained on: precision, runtimes, training, V-C of the airloop paper",
    ),
    "fusion": (
        "skyloop_papers.fusion.experiment",
        "people tracked by camera, radar and both, on a clear day, in fog and at night; what airloop is made for",
    ),
}
"""name: (module with reproduce(quick, folder) -> list[Result], one line)."""

RESUMES = ("sync-hil", "online", "offline", "e2es", "e2es-missions", "unknown-city", "landing", "detection", "fusion")
"""Long ones, which report their progress and continue in a folder that has their protocol.json."""
NOT_RUN_BY_RUN = {
    **dict.fromkeys(("drag", "depth-noise", "radar", "mission"), "it keeps no single runs"),
    **dict.fromkeys(("offline", "online", "detection"), "it measures times of this machine"),
    "e2es": "it measures the time for each pair of images on this machine",
    "sync-hil": "its targets keep the pace of this machine's clock",
}
"""Why runs of these cannot be flown apart from each other: again, or on a cluster. The modules of all others have
Protocol, jobs_of, in_words and CORES, and their reproduce takes `makers`."""
PROTOCOLS = ("sync-hil", "e2es", "e2es-missions", "unknown-city", "landing", "detection", "fusion")
"""Those with a page of their own about what is flown."""
PAGES = {
    "report": "skyloop_papers.report_page",
    **{name: f"skyloop_papers.{name.replace('-', '_')}.page" for name in REPRODUCTIONS},
    **{f"{name}-protocol": f"skyloop_papers.{name.replace('-', '_')}.protocol_page" for name in PROTOCOLS},
}
"""name of a results file: module with blocks(results) -> text by name of block, and said(results) -> sentences."""


def listed() -> dict[str, str]:
    """For `skyloop list`: names with one line each."""
    return {name: text for name, (_, text) in REPRODUCTIONS.items()}
