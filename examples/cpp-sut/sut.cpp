// Software under test: flies one task over skyloop's link and prints its result as one line of JSON.
//
//     g++ -std=c++17 -O2 -I clients/cpp -o sut examples/cpp-sut/sut.cpp
//     skyloop loop face-anchor --sut "./sut face-anchor"
//
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <functional>
#include <iostream>
#include <memory>

#include "tasks.hpp"

namespace {

constexpr const char* kUsage =
    "usage: sut TASK [--address HOST:PORT] [--vehicle NAME] [--clock wall|cpu] [--speed F] [options]\n"
    "tasks: ascend, sensor-characterisation, relative-position, face-anchor, move-forward, closed-path\n"
    "  --clock cpu --speed F    execution time is processor time / F: a machine F times as fast as this one\n"
    "  --stream NAME --samples N --fresh 0|1                         sensor characterisation\n"
    "  --camera NAME --anchor-hue 0..179 --anchor-hue-reach N --anchor-saturation N --anchor-value N\n"
    "  --anchor-height M --most-images N                             the anchor (blue is hue 120)\n"
    "  --precision RAD --rate RAD/S --slowing SHARE --slowest-rate RAD/S    facing it\n"
    "  --flight-speed M/S --distance M --imu NAME --rest-samples N --settling S    moving\n"
    "  --altitude M                                                  of the take-off before a task that flies\n"
    "  --deadline S                                                  of execution time, for the task to end\n";

double number(const std::string& option, const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(value))
        throw skyloop::Error(option + " needs a number, not '" + text + "'");
    return value;
}

int whole(const std::string& option, const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        throw skyloop::Error(option + " needs a whole number, not '" + text + "'");
    return value;
}

struct Arguments {
    std::string task;
    skyloop::Options link;
    tasks::Options options;
};

Arguments parsed(int argc, char** argv) {
    Arguments out;
    auto& [task, link, o] = out;
    link.name = "cpp-sut 1";
    using Text = std::string;
    const auto text = [](Text& to) { return [&to](const Text&, const Text& value) { to = value; }; };
    const auto real = [](auto& to) { return [&to](const Text& name, const Text& value) { to = number(name, value); }; };
    const auto count = [](int& to) { return [&to](const Text& name, const Text& value) { to = whole(name, value); }; };
    const std::map<Text, std::function<void(const Text&, const Text&)>> known{
        {"--address", text(link.address)}, {"--vehicle", text(link.vehicle)}, {"--speed", real(link.speed)},
        {"--clock", text(link.clock)},
        {"--stream", text(o.stream)}, {"--samples", count(o.samples)}, {"--altitude", real(o.altitude)},
        {"--fresh", [&o = o](const Text& name, const Text& value) { o.fresh = whole(name, value) != 0; }},
        {"--camera", text(o.camera)}, {"--imu", text(o.imu)}, {"--most-images", count(o.most_images)},
        {"--anchor-hue", count(o.anchor.hue)}, {"--anchor-hue-reach", count(o.anchor.hue_reach)},
        {"--anchor-saturation", count(o.anchor.saturation)}, {"--anchor-value", count(o.anchor.value)},
        {"--anchor-height", real(o.anchor.height)}, {"--precision", real(o.precision)}, {"--rate", real(o.rate)},
        {"--slowing", real(o.slowing)}, {"--slowest-rate", real(o.slowest_rate)}, {"--flight-speed", real(o.speed)},
        {"--distance", real(o.distance)}, {"--rest-samples", count(o.rest_samples)},
        {"--settling", real(o.settling)}, {"--deadline", real(o.deadline)},
    };
    for (int i = 1; i < argc; ++i) {
        const Text word = argv[i];
        if (word.rfind("--", 0) != 0) {
            if (!task.empty()) throw skyloop::Error("one task at a time, not '" + task + "' and '" + word + "'");
            task = word;
            continue;
        }
        const auto found = known.find(word);
        if (found == known.end()) throw skyloop::Error("no option '" + word + "'; try sut --help");
        if (++i == argc) throw skyloop::Error(word + " needs a value");
        found->second(word, argv[i]);
    }
    return out;
}

using Maker = std::unique_ptr<tasks::Task> (*)(tasks::Flight&);
template <class Task>
std::unique_ptr<tasks::Task> made(tasks::Flight& flight) { return std::make_unique<Task>(flight); }
const std::map<std::string, Maker> kTasks{
    {"ascend", made<tasks::Ascend>},
    {"sensor-characterisation", made<tasks::SensorCharacterisation>},
    {"relative-position", made<tasks::RelativePosition>},
    {"face-anchor", made<tasks::FaceAnchor>},
    {"move-forward", made<tasks::MoveForward>},
    {"closed-path", made<tasks::ClosedPath>},
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2 || std::string(argv[1]) == "--help") {
        (argc < 2 ? std::cerr : std::cout) << kUsage;
        return argc < 2 ? 1 : 0;
    }
    Arguments arguments = parsed(argc, argv);
    const auto maker = kTasks.find(arguments.task);
    if (maker == kTasks.end()) throw skyloop::Error("no task '" + arguments.task + "'; try sut --help");
    arguments.link.energy = false;  // the tables count the time it computes: it decodes only what it uses
    skyloop::Client client(arguments.link);
    tasks::Flight flight{client, arguments.options, {}};
    const auto task = maker->second(flight);
    if (task->flies() && client.ask().status["landed"].boolean()) tasks::Ascend(flight).perform();
    task->set_deadline(arguments.options.deadline);
    task->perform();
    if (task->flies()) client.send(skyloop::Hover{});

    tasks::Json timings;
    for (const auto& [name, timing] : flight.timings) {
        tasks::Json one;
        timings.raw(name, one.add("runs", timing.runs).add("loops", timing.loops).add("time_s", timing.time_s).text());
    }
    std::cout << task->result().raw("timings", timings.text()).text() << std::endl;
    return 0;
} catch (const std::exception& error) {
    std::cerr << "sut: " << error.what() << std::endl;
    return 1;
}
