// Finds people in the images of a vehicle's camera and publishes their boxes: an estimator of the scenario on a board.
//
//     skyloop loop park-people --task detect --target board     # builds it for aarch64 and writes the model for it
//     ./detect MODEL.board --picture photo.ppm                  # or prints the boxes of one picture (P6)
//
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <set>

#include "detector.hpp"

namespace {

constexpr const char* kUsage =
    "usage: detect MODEL.board --camera NAME --estimator NAME [--vehicle NAME]\n"
    "       detect MODEL.board --picture FILE.ppm\n";

// One box per line: left, top, right, bottom, score, class.
void print_boxes(skyloop::Detector& detector, const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string magic;
    int width = 0, height = 0, most = 0;
    in >> magic >> width >> height >> most;
    in.get();
    if (!in || magic != "P6" || most != 255) throw skyloop::Error("'" + path + "' is no PPM picture of 8 bits (P6)");
    if (width != detector.width() || height != detector.height())
        throw skyloop::Error("the picture has " + std::to_string(width) + " x " + std::to_string(height) +
                             " px, the model is for " + std::to_string(detector.width()) + " x " +
                             std::to_string(detector.height()));
    std::vector<char> pixels(static_cast<std::size_t>(3 * width) * static_cast<std::size_t>(height));
    if (!in.read(pixels.data(), static_cast<std::streamsize>(pixels.size())))
        throw skyloop::Error("'" + path + "' ends too early");
    const auto found = detector.find(reinterpret_cast<const std::uint8_t*>(pixels.data()), 3);
    for (std::size_t k = 0; k < found.scores.size(); ++k) {
        const auto& box = found.boxes_px[k];
        std::printf("%.4f %.4f %.4f %.4f %.6f %s\n", box[0], box[1], box[2], box[3], found.scores[k],
                    found.classes[k].c_str());
    }
}

void look(skyloop::Detector& detector, const std::string& camera, const skyloop::Options& options) {
    skyloop::Client client(options);
    std::set<std::string> told;
    const std::string stream = client.vehicle() + "/" + camera;
    for (;;) {
        const skyloop::Bundle& bundle = client.ask(skyloop::Ask().every(stream).any_of(stream));
        for (const std::string& line : bundle.refused)
            if (told.insert(line).second) std::cerr << line << std::endl;
        // the newest one: older ones have waited while it looked
        const auto image = bundle.get<skyloop::CameraImage>(camera);
        if (!image) continue;
        if (image->width != detector.width() || image->height != detector.height())
            throw skyloop::Error("the camera gives " + std::to_string(image->width) + " x " +
                                 std::to_string(image->height) + " px, the model is for another size");
        skyloop::Detections found = detector.find(image->pixels(), image->channels);
        found.t_ns = image->t_ns, found.source = camera;
        client.publish(options.estimator + "/boxes", std::move(found));
    }
}

int run(int argc, char** argv) {
    std::map<std::string, std::string> told;
    for (int k = 2; k + 1 < argc; k += 2) told[argv[k]] = argv[k + 1];
    const bool flies = told.count("--camera") && told.count("--estimator");
    if (argc < 4 || argc % 2 || !(flies || told.count("--picture"))) {
        std::cerr << kUsage;
        return 2;
    }
    // before the link: what is loaded then takes no simulated time
    skyloop::Detector detector(skyloop::Detector::file(argv[1]));
    if (!flies) {
        print_boxes(detector, told["--picture"]);
        return 0;
    }
    skyloop::Options options;
    options.vehicle = told["--vehicle"], options.estimator = told["--estimator"], options.name = "detect.cpp 1";
    try {
        look(detector, told["--camera"], options);
    } catch (const skyloop::Ended&) {
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "detect: " << error.what() << std::endl;
        return 1;
    }
}
