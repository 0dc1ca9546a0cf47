// What the tests ask of the C++ client: decodes bytes, flies a session, hammers a server. Prints JSON lines.
#include <iostream>
#include <iterator>

#include "skyloop_client.hpp"

using namespace skyloop;

static void quote(std::ostream& out, const std::string& text) {
    out << '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        char escaped[8];
        if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') out << c;
        else std::snprintf(escaped, sizeof escaped, "\\u%04x", byte), out << escaped;
    }
    out << '"';
}

static void number(std::ostream& out, double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    if (std::isnan(value)) out << "NaN";
    else if (std::isinf(value)) out << (value > 0 ? "Infinity" : "-Infinity");
    else out << text;
}

static void dump(std::ostream& out, const Value& value);

static void dump(std::ostream& out, const Array& array) {
    out << "{\"dtype\": ";
    quote(out, array.dtype());
    out << ", \"shape\": [";
    for (std::size_t i = 0; i < array.shape().size(); ++i) out << (i ? ", " : "") << array.shape()[i];
    out << "], \"data\": [";
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (i) out << ", ";
        if (array.dtype() == "<c8" || array.dtype() == "<c16") {
            const std::complex<double> z = array.dtype() == "<c16"
                                               ? array.as<std::complex<double>>()[i]
                                               : std::complex<double>(array.as<std::complex<float>>()[i]);
            out << '[', number(out, z.real()), out << ", ", number(out, z.imag()), out << ']';
        } else {
            number(out, array.number(i));
        }
    }
    out << "]}";
}

struct Dump {
    std::ostream& out;
    void operator()(std::nullptr_t) const { out << "null"; }
    void operator()(bool value) const { out << (value ? "true" : "false"); }
    void operator()(std::int64_t value) const { out << value; }
    void operator()(double value) const { number(out, value); }
    void operator()(const std::string& value) const { quote(out, value); }
    void operator()(const Array& value) const { dump(out, value); }
    void operator()(const Value::List& list) const {
        out << '[';
        for (std::size_t i = 0; i < list.size(); ++i) out << (i ? ", " : ""), dump(out, list[i]);
        out << ']';
    }
    void operator()(const Value::Map& map) const {
        out << '{';
        for (std::size_t i = 0; i < map.size(); ++i)
            out << (i ? ", " : ""), quote(out, map[i].key), out << ": ", dump(out, map[i].value);
        out << '}';
    }
};

static void dump(std::ostream& out, const Value& value) { std::visit(Dump{out}, value.data()); }

// Everything a client does with an answer; the text goes nowhere, but every byte is read.
static bool taken(const Bytes& message) {
    struct Nowhere : std::streambuf {
        int overflow(int c) override { return c; }
    } nowhere;
    std::ostream out(&nowhere);
    try {
        const Value value = decode(message);
        dump(out, value);
        Bundle bundle;
        bundle.vehicle = "drone";
        bundle.take(value);
        bundle.vehicle_state().yaw();
        if (const auto image = bundle.get<CameraImage>("front"))
            for (int i = 0; i < 3 * image->width * image->height; ++i) out << image->pixels()[i];
        return true;
    } catch (const Error&) {
        return false;
    }
}

static void mutate(const Bytes& message) {
    long tried = 0, refused = 0;
    const auto attempt = [&](const Bytes& bytes) { ++tried, refused += !taken(bytes); };
    for (std::size_t n = 0; n < message.size(); ++n)
        attempt(Bytes(message.begin(), message.begin() + static_cast<long>(n)));
    const long cut = refused;
    for (std::size_t n = 0; n < message.size(); ++n)
        for (const int byte : {0x00, 0x7f, 0xc9, 0xdd, 0xdf, 0xff, message[n] ^ 1}) {
            Bytes changed = message;
            changed[n] = static_cast<std::uint8_t>(byte);
            attempt(changed);
        }
    std::uint64_t state = 1;  // a small generator: the same bytes on every machine
    for (int i = 0; i < 5000; ++i) {
        Bytes noise(4 + (state >> 33) % 60);
        for (auto& byte : noise) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            byte = static_cast<std::uint8_t>(state >> 56);
        }
        noise[0] = static_cast<std::uint8_t>(noise.size() - 4), noise[1] = noise[2] = noise[3] = 0;
        attempt(noise);
    }
    std::cout << "{\"cut_refused\": " << cut << ", \"tried\": " << tried << ", \"refused\": " << refused << "}\n";
}

static void show(const Client& client, const Bundle& bundle) {
    std::cout << "{\"t_ns\": " << bundle.t_ns << ", \"now\": " << client.now() << ", \"state\": ";
    dump(std::cout, bundle.state);
    std::cout << ", \"yaw\": ", number(std::cout, bundle.state.is_nil() ? NAN : bundle.vehicle_state().yaw());
    std::cout << ", \"refused\": " << bundle.refused.size() << ", \"samples\": {";
    bool first = true;
    for (const auto& [name, sample] : bundle.samples) {
        std::cout << (first ? "" : ", "), quote(std::cout, name), first = false;
        std::cout << ": [" << sample.index << ", " << sample.t_ns << ", " << sample.arrival_ns << ", ";
        dump(std::cout, sample.record), std::cout << ']';
    }
    std::cout << "}}\n";
}

static void fly(const Options& options) {
    Client client(options);
    std::cout << "{\"vehicle\": ", quote(std::cout, client.vehicle()), std::cout << ", \"fx\": ";
    number(std::cout, client.info("front").details["fx"].number());
    std::cout << ", \"rate_hz\": ", number(std::cout, client.info("front").rate_hz), std::cout << "}\n";
    show(client, client.send(Arm{}, TakeOff{1.5}, Velocity{{1, 2, 3}, "body", {}, 0.25}, Position{{4, 5, 6}, 0.5},
                             Goal{{7, 8, 9}}, Hover{}, Land{}, Disarm{}));
    show(client, client.ask(Ask().next("front").want("imu").until(client.now() + 1'000'000'000)));
    usleep(30'000);
    show(client, client.ask(Ask().want_all()));
    const auto image = client.latest().get<CameraImage>("front");
    const auto imu = client.latest().get<ImuSample>("imu");
    const auto range = client.latest().get<RangeSample>("range");
    std::cout << "{\"width\": " << image->width << ", \"height\": " << image->height << ", \"last\": "
              << int{image->pixels()[3 * image->width * image->height - 1]} << ", \"force\": ";
    number(std::cout, imu->specific_force[2]), std::cout << ", \"distance\": ", number(std::cout, range->distance);
    std::cout << "}\n";
}

// Publishes one record of each kind, then hears every IMU sample of a tenth of a second.
static void publish(Options options) {
    options.role = "companion";
    Client client(options);
    client.sleep_until(client.now() + 100'000'000);
    const std::int64_t t = client.latest().t_ns;
    client.publish("cost", Number{t, 2.5, "m"});
    client.publish("detections", Detections{t, {{1, 2, 3, 4}}, {"car"}, {0.75}, std::vector<std::int64_t>{9}, "front"});
    Estimate estimate{t, {1, 2, 3}, {4, 5, 6}};
    estimate.gyro_bias = Vector{0.1, 0.2, 0.3};
    estimate.covariance = std::vector<std::vector<double>>(9, std::vector<double>(9, 0.0));
    client.publish("vio", estimate);
    client.publish("imu", Number{t, 1});
    for (const std::string& why : client.ask().refused) std::cerr << why << '\n';
    client.ask(Ask().every("imu"));
    const auto& bundle = client.ask(Ask().every("imu").any_of("imu").until(client.now() + 100'000'000));
    std::cout << "{\"t_ns\": " << t << ", \"arrived\": " << bundle.arrived.size() << ", \"first\": "
              << bundle.arrived.front().second.index << ", \"last\": " << bundle.arrived.back().second.index << "}\n";
}

// Asks until something goes wrong, `times` over; counts what it was.
static void task(const Options& options) {
    Client client(options);
    client.ask();
    client.begin_task("look", 0.05);
    client.ask(Ask().until(client.now() + 100'000'000));
    client.ask();
    client.end_task("look");
    const Bundle& bundle = client.ask();
    std::cout << "{\"charge\": " << bundle.battery["state_of_charge"].number() << ", \"energy\": " << bundle.computer_energy
              << "}\n";
}

static void hammer(const std::string& address, int times) {
    std::map<std::string, int> counts;
    Options options;
    options.address = address;
    for (int i = 0; i < times; ++i) {
        try {
            Client client(options);
            for (;;) client.ask();
        } catch (const Refused&) { ++counts["refused"];
        } catch (const Ended&) { ++counts["ended"];
        } catch (const ProtocolError&) { ++counts["protocol"];
        } catch (const ConnectionLost&) { ++counts["lost"]; }
    }
    std::cout << '{';
    bool first = true;
    for (const auto& [what, n] : counts) std::cout << (first ? "" : ", ") << '"' << what << "\": " << n, first = false;
    std::cout << "}\n";
}

int main(int argc, char** argv) try {
    const std::string what = argc > 1 ? argv[1] : "";
    Options options;
    if (argc > 2) options.address = argv[2];
    if (what == "decode" || what == "mutate") {
        const Bytes message((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
        if (what == "mutate") mutate(message);
        else dump(std::cout, decode(message)), std::cout << '\n';
    } else if (what == "fly") {
        fly(options);
    } else if (what == "publish") {
        publish(options);
    } else if (what == "task") {
        task(options);
    } else if (what == "hammer") {
        hammer(options.address, std::atoi(argv[3]));
    } else if (what == "clock") {  // spends processor time, then sleeps; ET with a speed factor of a tenth
        options.clock = "cpu", options.speed = 0.1;
        Client client(options);
        const std::int64_t start = read_clock(CLOCK_PROCESS_CPUTIME_ID), before = client.now();
        while (read_clock(CLOCK_PROCESS_CPUTIME_ID) - start < 50'000'000) {}
        const std::int64_t et = client.now() - before, cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
        std::cout << "{\"et_ns\": " << et << ", \"cpu_ns\": " << cpu << "}\n";
        usleep(50'000);
        client.ask();
    } else {
        throw Error("decode, mutate, fly, hammer or clock?");
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
