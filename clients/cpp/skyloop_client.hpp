// skyloop_client.hpp: flies a vehicle of the skyloop simulator from C++17. One header, POSIX, nothing to link.
//
//     skyloop::Client client;                                   // address from SKYLOOP_ADDRESS
//     client.send(skyloop::Arm{}, skyloop::TakeOff{1.5});
//     client.sleep_until(client.now() + 5'000'000'000);         // never ::sleep: its time would count as computing
//     for (;;) {
//         const auto& answer = client.ask(skyloop::Ask().next("front"));      // waits for an image not seen before
//         const auto image = *answer.get<skyloop::CameraImage>("front");
//         client.send(skyloop::Velocity{{0.5, 0, 0}, "body", {}, steer(image)});
//     }                                                         // throws skyloop::Ended when the flight is over
//
// docs/reference/protocol.md describes the messages. Simulated time waits for this program: its execution time (ET)
// runs while it computes and stands still while it waits for an answer. So a slow network or a slow simulator changes
// nothing.
// The client uses one connection and one thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays travel little-endian and are read as they are");

namespace skyloop {

constexpr int kProtocol = 1;
constexpr std::size_t kMaxAnswer = std::size_t{256} << 20;   // bytes
constexpr std::size_t kMaxQuestion = std::size_t{8} << 20;   // bytes
constexpr std::size_t kMaxValues = std::size_t{1} << 20;     // in one head; a normal one has a few hundred
constexpr int kMaxDepth = 32;                                // of lists in maps in lists

struct Error : std::runtime_error { using std::runtime_error::runtime_error; };
struct Refused : Error { using Error::Error; };         // the simulator refused the hello; its reason
struct ProtocolError : Error { using Error::Error; };   // a message that docs/reference/protocol.md does not allow
struct ConnectionLost : Error { using Error::Error; };
struct Ended : Error {                                  // the flight is over: not a failure of the link
    Ended(const std::string& why, std::int64_t t) : Error(why), t_ns(t) {}
    std::int64_t t_ns;
};

using Bytes = std::vector<std::uint8_t>;
using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // w, x, y, z

// Elements of a received array. They may be unaligned, so they are copied one by one, which compilers turn
// into plain loads.
template <class T>
struct View {
    const std::uint8_t* bytes;
    std::size_t size;
    T operator[](std::size_t i) const {
        T element;
        std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
        return element;
    }
};

// An array of numbers in C order. It keeps the message it arrived in alive; nothing is copied.
class Array {
public:
    Array(std::shared_ptr<const Bytes> owner, std::size_t offset, std::string dtype, std::vector<std::size_t> shape,
          std::size_t size)
        : owner_(std::move(owner)), offset_(offset), size_(size), dtype_(std::move(dtype)), shape_(std::move(shape)) {}

    const std::string& dtype() const { return dtype_; }  // numpy's, such as "<f4"
    const std::vector<std::size_t>& shape() const { return shape_; }
    std::size_t size() const { return size_; }           // elements

    template <class T>
    View<T> as() const {
        if (dtype_.substr(1) != kind_of<T>()) throw ProtocolError("an array is " + dtype_ + ", not " + kind_of<T>());
        return raw<T>();
    }

    // Element i of any real dtype; integers beyond 2^53 lose their last digits.
    double number(std::size_t i) const {
        if (i >= size_) throw std::out_of_range("an array has " + std::to_string(size_) + " elements");
        const std::string kind = dtype_.substr(1);
        if (kind == "f8") return as<double>()[i];
        if (kind == "f4") return as<float>()[i];
        if (kind == "f2") return half(raw<std::uint16_t>()[i]);
        if (kind == "u1" || kind == "b1") return raw<std::uint8_t>()[i];
        if (kind == "i1") return as<std::int8_t>()[i];
        if (kind == "u2") return as<std::uint16_t>()[i];
        if (kind == "i2") return as<std::int16_t>()[i];
        if (kind == "u4") return as<std::uint32_t>()[i];
        if (kind == "i4") return as<std::int32_t>()[i];
        if (kind == "u8") return static_cast<double>(as<std::uint64_t>()[i]);
        if (kind == "i8") return static_cast<double>(as<std::int64_t>()[i]);
        throw ProtocolError("an array of " + dtype_ + " has no plain numbers");
    }

private:
    template <class T>
    View<T> raw() const { return {owner_->data() + offset_, size_}; }
    template <class T>
    static std::string kind_of() {
        if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
            return "c" + std::to_string(sizeof(T));
        } else {
            static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "read booleans with number()");
            const char* kind = std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u";
            return kind + std::to_string(sizeof(T));
        }
    }
    static double half(std::uint16_t bits) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const double sign = bits & 0x8000 ? -1.0 : 1.0;
        if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
        return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
    }

    std::shared_ptr<const Bytes> owner_;
    std::size_t offset_, size_;
    std::string dtype_;
    std::vector<std::size_t> shape_;
};

struct Field;

// Any value in a head. A wrong type throws ProtocolError; a missing key of a map gives nil.
class Value {
public:
    using List = std::vector<Value>;
    using Map = std::vector<Field>;  // in order of arrival
    using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, List, Map>;

    Value() : data_(nullptr) {}
    explicit Value(Data data) : data_(std::move(data)) {}

    bool is_nil() const { return std::holds_alternative<std::nullptr_t>(data_); }
    const Data& data() const { return data_; }
    bool boolean() const { return get<bool>("a boolean"); }
    std::int64_t integer() const { return get<std::int64_t>("an integer"); }
    double number() const {
        if (const auto* whole = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*whole);
        return get<double>("a number");
    }
    const std::string& text() const { return get<std::string>("a string"); }
    const Array& array() const { return get<Array>("an array"); }
    const List& list() const { return get<List>("a list"); }
    const Map& map() const { return get<Map>("a map"); }
    const Value& operator[](std::string_view key) const;
    bool has(std::string_view key) const { return !(*this)[key].is_nil(); }

    std::string record() const {  // name of its class in skyloop_client.messages, "" if it is not a record
        if (!std::holds_alternative<Map>(data_) || !has("@")) return "";
        return (*this)["@"].text();
    }

    // N numbers, whether they came as an array or as a list.
    template <std::size_t N>
    std::array<double, N> numbers() const {
        const auto* array = std::get_if<Array>(&data_);
        const std::size_t size = array ? array->size() : list().size();
        if (size != N) throw ProtocolError(std::to_string(size) + " numbers where " + std::to_string(N) + " belong");
        std::array<double, N> out;
        for (std::size_t i = 0; i < N; ++i) out[i] = array ? array->number(i) : list()[i].number();
        return out;
    }

private:
    template <class T>
    const T& get(const char* what) const {
        if (const T* found = std::get_if<T>(&data_)) return *found;
        throw ProtocolError(std::string("there should be ") + what);
    }
    Data data_;
};

struct Field {
    std::string key;
    Value value;
};

inline const Value& Value::operator[](std::string_view key) const {
    static const Value nil;
    for (const Field& field : map())
        if (field.key == key) return field.value;
    return nil;
}

// Reads msgpack from untrusted bytes: every length is checked against the available bytes before it is used.
class Unpacker {
public:
    // `body` is the offset in `message` at which the raw bytes of the arrays begin.
    Unpacker(std::shared_ptr<const Bytes> message, std::size_t begin, std::size_t end, std::size_t body)
        : message_(std::move(message)), at_(begin), end_(end), body_(body) {}

    Value value() { return value(0); }
    bool at_end() const { return at_ == end_; }

private:
    Value value(int depth) {
        if (depth > kMaxDepth) throw ProtocolError("values are nested too deeply");
        if (++count_ > kMaxValues) throw ProtocolError("a head has too many values");
        const auto tag = static_cast<unsigned>(unsigned_number(1));
        if (tag < 0x80) return integer(tag);
        if (tag < 0x90) return map(tag & 15, depth);
        if (tag < 0xa0) return list(tag & 15, depth);
        if (tag < 0xc0) return text(tag & 31);
        if (tag >= 0xe0) return integer(static_cast<std::int64_t>(tag) - 256);
        switch (tag) {
            case 0xc0: return Value();
            case 0xc2: return Value(Value::Data(false));
            case 0xc3: return Value(Value::Data(true));
            case 0xc4: case 0xc5: case 0xc6: return text(length(1 << (tag - 0xc4)));  // raw bytes become a string
            case 0xc7: case 0xc8: case 0xc9: return extension(length(1 << (tag - 0xc7)), depth);
            case 0xca: return Value(Value::Data(double{bits<float, std::uint32_t>(unsigned_number(4))}));
            case 0xcb: return Value(Value::Data(bits<double, std::uint64_t>(unsigned_number(8))));
            case 0xcc: case 0xcd: case 0xce: case 0xcf: return integer(unsigned_number(1 << (tag - 0xcc)));
            case 0xd0: return integer(static_cast<std::int8_t>(unsigned_number(1)));
            case 0xd1: return integer(static_cast<std::int16_t>(unsigned_number(2)));
            case 0xd2: return integer(static_cast<std::int32_t>(unsigned_number(4)));
            case 0xd3: return integer(static_cast<std::int64_t>(unsigned_number(8)));
            case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8:
                return extension(std::size_t{1} << (tag - 0xd4), depth);
            case 0xd9: case 0xda: case 0xdb: return text(length(1 << (tag - 0xd9)));
            case 0xdc: case 0xdd: return list(length(2 << (tag - 0xdc)), depth);
            case 0xde: case 0xdf: return map(length(2 << (tag - 0xde)), depth);
            default: throw ProtocolError("a byte that msgpack does not have");
        }
    }

    void need(std::size_t n) const {
        if (n > end_ - at_) throw ProtocolError("a value goes beyond the end of its message");
    }
    std::uint64_t unsigned_number(int n) {  // big-endian, as in msgpack
        need(static_cast<std::size_t>(n));
        std::uint64_t out = 0;
        for (; n > 0; --n) out = out << 8 | (*message_)[at_++];
        return out;
    }
    // The length of the next value. An element takes at least one byte, so a valid length never needs much memory.
    std::size_t length(int n) {
        const std::uint64_t out = unsigned_number(n);
        need(out);
        return out;
    }
    template <class Whole>
    static Value integer(Whole number) {  // a number beyond int64 (such as a seed) becomes a double
        if (std::is_same_v<Whole, std::uint64_t> && static_cast<std::uint64_t>(number) > INT64_MAX)
            return Value(Value::Data(static_cast<double>(number)));
        return Value(Value::Data(static_cast<std::int64_t>(number)));
    }
    template <class Real, class Unsigned>
    static Real bits(std::uint64_t raw) {
        const auto narrow = static_cast<Unsigned>(raw);
        Real out;
        static_assert(sizeof out == sizeof narrow);
        std::memcpy(&out, &narrow, sizeof out);
        return out;
    }
    Value text(std::size_t n) {
        need(n);
        std::string out(reinterpret_cast<const char*>(message_->data()) + at_, n);
        at_ += n;
        return Value(Value::Data(std::move(out)));
    }
    Value list(std::size_t n, int depth) {
        Value::List out;
        for (; n > 0; --n) out.push_back(value(depth + 1));
        return Value(Value::Data(std::move(out)));
    }
    Value map(std::size_t n, int depth) {
        Value::Map out;
        for (; n > 0; --n) {
            Value key = value(depth + 1), item = value(depth + 1);
            // keys that are not strings are ignored
            if (const auto* name = std::get_if<std::string>(&key.data())) out.push_back({*name, std::move(item)});
        }
        return Value(Value::Data(std::move(out)));
    }
    Value extension(std::size_t n, int depth) {
        const auto type = static_cast<std::int8_t>(unsigned_number(1));
        need(n);
        const std::size_t after = at_ + n, end = std::exchange(end_, after);
        Value out = type == 1 ? array(depth) : Value();  // unknown types are ignored
        at_ = after, end_ = end;
        return out;
    }
    Value array(int depth) {  // [dtype, shape, start]
        const Value head = value(depth + 1);
        if (head.list().size() != 3) throw ProtocolError("an array without dtype, shape and start");
        const std::string& dtype = head.list()[0].text();
        const std::string digits = dtype.substr(std::min<std::size_t>(2, dtype.size()));
        if (digits.empty() || digits.size() > 2 || digits.find_first_not_of("0123456789") != std::string::npos ||
            digits[0] == '0' || std::string_view("<|").find(dtype[0]) == std::string_view::npos ||
            std::string_view("biufc").find(dtype[1]) == std::string_view::npos)
            throw ProtocolError("an array of a dtype that is not known");
        const std::size_t element = std::stoul(digits), room = message_->size() - body_;
        const std::size_t start = dimension(head.list()[2]);
        std::vector<std::size_t> shape;
        for (const Value& item : head.list()[1].list()) shape.push_back(dimension(item));
        std::size_t size = std::count(shape.begin(), shape.end(), 0) ? 0 : 1;
        for (const std::size_t n : shape) {
            if (size > 0 && n > room / size) throw ProtocolError("an array beyond its message");
            size *= n;
        }
        if (start > room || size > (room - start) / element) throw ProtocolError("an array beyond its message");
        return Value(Value::Data(Array(message_, body_ + start, dtype, std::move(shape), size)));
    }
    static std::size_t dimension(const Value& value) {
        if (value.integer() < 0) throw ProtocolError("an array with a negative size");
        return static_cast<std::size_t>(value.integer());
    }

    std::shared_ptr<const Bytes> message_;
    std::size_t at_, end_, body_, count_ = 0;
};

// A message without its first four bytes: length of the head, head, raw bytes of arrays.
inline Value decode(Bytes message) {
    if (message.size() < 4) throw ProtocolError("a message too short for a head");
    std::size_t head = 0;
    for (int i = 3; i >= 0; --i) head = head << 8 | message[static_cast<std::size_t>(i)];
    if (head > message.size() - 4) throw ProtocolError("a head longer than its message");
    Unpacker unpacker(std::make_shared<const Bytes>(std::move(message)), 4, 4 + head, 4 + head);
    Value value = unpacker.value();
    if (!unpacker.at_end()) throw ProtocolError("a head with something after its end");
    value["type"].text();  // throws unless it is a map with a type
    return value;
}

struct Published;
// A task that begins, with its deadline if it has one, or ends.
struct TaskChange {
    const char* what;  // "begin" or "end"
    std::string name;
    std::optional<std::int64_t> deadline_ns;
};

// Writes msgpack, always in the wide forms: a question has only some hundred bytes, and this needs fewer cases.
class Packer {
public:
    void nil() { bytes_.push_back(0xc0); }
    void add(bool value) { bytes_.push_back(value ? 0xc3 : 0xc2); }
    void add(std::int64_t value) { put(0xd3, static_cast<std::uint64_t>(value), 8); }
    void add(double value) {
        std::uint64_t raw;
        std::memcpy(&raw, &value, sizeof raw);
        put(0xcb, raw, 8);
    }
    void add(std::string_view text) {
        put(0xdb, text.size(), 4);
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }
    void add(const char* text) { add(std::string_view(text)); }
    template <class T>
    void add(const std::optional<T>& value) { value ? add(*value) : nil(); }
    template <class T, std::size_t N>
    void add(const std::array<T, N>& items) { list(items); }
    template <class T>
    void add(const std::vector<T>& items) { list(items); }
    void add(const Published& it);
    void add(const TaskChange& it) { put(0xdd, 3, 4), add(it.what), add(it.name), add(it.deadline_ns); }
    template <class... Records>
    void add(const std::variant<Records...>& it) { std::visit([this](const auto& record) { record.pack(*this); }, it); }
    // A list of two.
    template <class First, class Second>
    void pair(const First& first, const Second& second) { put(0xdd, 2, 4), add(first), add(second); }
    // A map: key, value, key, value...
    template <class... Parts>
    void map(const Parts&... keys_and_values) {
        put(0xdf, sizeof...(Parts) / 2, 4);
        (add(keys_and_values), ...);
    }
    const Bytes& bytes() const { return bytes_; }

private:
    template <class List>
    void list(const List& items) {
        put(0xdd, items.size(), 4);
        for (const auto& item : items) add(item);
    }
    void put(std::uint8_t tag, std::uint64_t value, int n) {
        bytes_.push_back(tag);
        while (n-- > 0) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * n));
    }
    Bytes bytes_;
};

// An outgoing head with both lengths before it and no arrays after it.
inline Bytes framed(const Bytes& head) {
    Bytes out;
    for (std::size_t length : {head.size() + 4, head.size()})
        for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(length >> 8 * i));
    out.insert(out.end(), head.begin(), head.end());
    return out;
}

// Setpoints. They must be refreshed: the vehicle hovers when the last one is too old. SI, radians, world axes ENU.
struct Velocity {
    Vector velocity{};
    std::string frame = "world";  // or "body": forward, left, up with the heading
    std::optional<double> yaw = std::nullopt;  // anticlockwise from east; otherwise it turns by yaw_rate
    double yaw_rate = 0;
    void pack(Packer& out) const {
        out.map("@", "Velocity", "velocity", velocity, "frame", frame, "yaw", yaw, "yaw_rate", yaw_rate);
    }
};
struct Position {
    Vector position{};
    std::optional<double> yaw = std::nullopt;  // otherwise the heading is kept
    double yaw_rate = 0;
    Vector velocity{};
    void pack(Packer& out) const {
        out.map("@", "Position", "position", position, "yaw", yaw, "yaw_rate", yaw_rate, "velocity", velocity);
    }
};
// A goal need not be refreshed.
struct Goal {
    Vector position{};
    std::optional<double> yaw = std::nullopt;
    std::optional<double> speed = std::nullopt;  // m/s; otherwise the vehicle's cruise speed
    void pack(Packer& out) const { out.map("@", "Goal", "position", position, "yaw", yaw, "speed", speed); }
};
struct TakeOff {
    double altitude = 2;  // m above the current position
    void pack(Packer& out) const { out.map("@", "TakeOff", "altitude", altitude); }
};
struct Arm { void pack(Packer& out) const { out.map("@", "Arm"); } };
struct Disarm { void pack(Packer& out) const { out.map("@", "Disarm"); } };
struct Land { void pack(Packer& out) const { out.map("@", "Land"); } };
struct Hover { void pack(Packer& out) const { out.map("@", "Hover"); } };
using Command = std::variant<Velocity, Position, Goal, Arm, Disarm, TakeOff, Land, Hover>;

// Records that a program may publish on its own streams, under its vehicle. `t_ns` is the instant of the data.
struct Estimate {  // SI, radians, world axes; sigmas of a rotation vector for the attitude
    std::int64_t t_ns = 0;
    Vector position{}, velocity_world{};
    Quaternion quat_wxyz{1, 0, 0, 0};  // world_from_body
    Vector angular_velocity_body{}, position_sd{}, velocity_sd{}, attitude_sd{};
    bool valid = true;
    std::optional<Vector> gyro_bias = std::nullopt, accel_bias = std::nullopt;  // rad/s and m/s^2, axes of the IMU
    // 9 x 9 of position, velocity, attitude, or 15 x 15 followed by the biases
    std::optional<std::vector<std::vector<double>>> covariance = std::nullopt;
    std::string reason{};  // why it is not valid
    void pack(Packer& out) const {
        out.map("@", "Estimate", "t_ns", t_ns, "position", position, "velocity_world", velocity_world, "quat_wxyz",
                quat_wxyz, "angular_velocity_body", angular_velocity_body, "position_sd", position_sd, "velocity_sd",
                velocity_sd, "attitude_sd", attitude_sd, "valid", valid, "gyro_bias", gyro_bias, "accel_bias",
                accel_bias, "covariance", covariance, "reason", reason);
    }
};
struct Detections {  // in one image; each list has one entry per object
    std::int64_t t_ns = 0;
    std::vector<std::array<double, 4>> boxes_px;  // left, top, right, bottom edge; x to the right, y down
    std::vector<std::string> classes;
    std::vector<double> scores;                                      // 0 to 1
    std::optional<std::vector<std::int64_t>> tracks = std::nullopt;  // -1: no track
    std::string source{};                                            // the camera, such as "front"
    void pack(Packer& out) const {
        out.map("@", "Detections", "t_ns", t_ns, "boxes_px", boxes_px, "classes", classes, "scores", scores, "tracks",
                tracks, "source", source);
    }
};
struct Number {
    std::int64_t t_ns = 0;
    double value = 0;
    std::string unit{};
    void pack(Packer& out) const { out.map("@", "Number", "t_ns", t_ns, "value", value, "unit", unit); }
};
using Record = std::variant<Estimate, Detections, Number>;
struct Published {
    std::string name;  // "detections" becomes the stream "<vehicle>/detections"
    Record record;
};
inline void Packer::add(const Published& it) { pair(it.name, it.record); }

// One question, built step by step: Ask().send(Hover{}).next("front").
class Ask {
public:
    Ask& send(Command command) { return commands_.push_back(std::move(command)), *this; }
    Ask& want(std::string stream) { return want_->push_back(std::move(stream)), *this; }
    Ask& want_all() { return all_ = true, *this; }                                         // except truth
    Ask& fresh(std::string stream) { return fresh_.push_back(std::move(stream)), *this; }  // wait for a new sample
    Ask& next(const std::string& stream) { return want(stream).fresh(stream); }            // ... and get it
    Ask& until(std::int64_t t_ns) { return until_ns_ = t_ns, *this; }                      // sleep
    Ask& every(std::string stream) { return every_.push_back(std::move(stream)), *this; }  // all messages, in order
    Ask& any_of(std::string stream) { return any_.push_back(std::move(stream)), *this; }   // wait for a sample of one
    Ask& publish(std::string name, Record record) {
        return publish_.push_back({std::move(name), std::move(record)}), *this;
    }

    Bytes pack(std::int64_t number, std::int64_t et_ns, std::int64_t slept_ns,
               const std::vector<TaskChange>& tasks = {}) const {
        Packer out;
        const auto all = [&](const auto&... more) {
            out.map("type", "ask", "number", number, "et_ns", et_ns, "send", commands_, "want",
                    all_ ? std::nullopt : want_, "fresh", fresh_, "until_ns", until_ns_, "slept_ns", slept_ns,
                    "publish", publish_, "every", every_, "any", any_, more...);
        };
        tasks.empty() ? all() : all("tasks", tasks);
        return out.bytes();
    }

private:
    std::vector<Command> commands_;
    std::optional<std::vector<std::string>> want_{std::in_place};
    std::vector<std::string> fresh_, every_, any_;
    std::vector<Published> publish_;
    std::optional<std::int64_t> until_ns_;
    bool all_ = false;
};

inline void expect_record(const Value& value, std::initializer_list<const char*> names) {
    const std::string found = value.record();
    if (std::find(names.begin(), names.end(), found) == names.end())
        throw ProtocolError("a record of class '" + found + "' where " + *names.begin() + " belongs");
}

struct VehicleState {  // from truth or an Estimate: the state that the controller uses
    std::int64_t t_ns = 0;
    Vector position{}, velocity_world{}, angular_velocity_body{};
    Quaternion quat_wxyz{1, 0, 0, 0};
    double yaw() const {  // anticlockwise from east, -pi to pi
        const auto& [w, x, y, z] = quat_wxyz;
        return std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
    }
    static VehicleState from(const Value& value) {
        expect_record(value, {"VehicleState", "Estimate"});
        return {value["t_ns"].integer(), value["position"].numbers<3>(), value["velocity_world"].numbers<3>(),
                value["angular_velocity_body"].numbers<3>(), value["quat_wxyz"].numbers<4>()};
    }
};
// ---- records, written by tools/record_types.py
struct ImuSample {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    Vector angular_velocity{};  // rad/s, sensor axes
    Vector specific_force{};  // m/s², sensor axes; +g along up at rest
    static ImuSample from(const Value& value) {
        expect_record(value, {"ImuSample"});
        return {value["t_ns"].integer(), value["angular_velocity"].numbers<3>(),
                value["specific_force"].numbers<3>()};
    }
};
struct ImuBias {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    Vector gyro_bias{};  // rad/s, sensor axes
    Vector accel_bias{};  // m/s², sensor axes
    static ImuBias from(const Value& value) {
        expect_record(value, {"ImuBias"});
        return {value["t_ns"].integer(), value["gyro_bias"].numbers<3>(), value["accel_bias"].numbers<3>()};
    }
};
struct GnssFix {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    double latitude_deg = 0;  // deg, degrees north, WGS84
    double longitude_deg = 0;  // deg, degrees east, WGS84
    double altitude = 0;  // m, above the WGS84 ellipsoid
    Vector velocity_enu{};  // m/s, in the local ENU axes at home
    std::int64_t fix_type = 0;  // 0 none, 2 two-dimensional, 3 three-dimensional
    double hdop = 0;  // horizontal dilution of precision, dimensionless
    double vdop = 0;  // vertical dilution of precision, dimensionless
    std::int64_t satellites = 0;  // number used in the fix
    double horizontal_sd = 0;  // m, one sigma as the receiver reports it
    double vertical_sd = 0;  // m, one sigma
    double speed_sd = 0;  // m/s, one sigma
    static GnssFix from(const Value& value) {
        expect_record(value, {"GnssFix"});
        return {value["t_ns"].integer(), value["latitude_deg"].number(), value["longitude_deg"].number(),
                value["altitude"].number(), value["velocity_enu"].numbers<3>(), value["fix_type"].integer(),
                value["hdop"].number(), value["vdop"].number(), value["satellites"].integer(),
                value["horizontal_sd"].number(), value["vertical_sd"].number(), value["speed_sd"].number()};
    }
};
struct BarometerSample {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    double pressure = 0;  // Pa, the measured pressure
    double altitude = 0;  // m, from pressure and the standard atmosphere
    double temperature = 0;  // K, the temperature of the standard atmosphere
    static BarometerSample from(const Value& value) {
        expect_record(value, {"BarometerSample"});
        return {value["t_ns"].integer(), value["pressure"].number(), value["altitude"].number(),
                value["temperature"].number()};
    }
};
struct MagnetometerSample {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    Vector field_tesla{};  // T, sensor axes
    static MagnetometerSample from(const Value& value) {
        expect_record(value, {"MagnetometerSample"});
        return {value["t_ns"].integer(), value["field_tesla"].numbers<3>()};
    }
};
struct RangeSample {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    double distance = 0;  // m, along the sensor's +x axis
    double min_range = 0;  // m, the shortest distance the sensor measures
    double max_range = 0;  // m, the longest distance the sensor measures
    static RangeSample from(const Value& value) {
        expect_record(value, {"RangeSample"});
        return {value["t_ns"].integer(), value["distance"].number(), value["min_range"].number(),
                value["max_range"].number()};
    }
};
struct OpticalFlowSample {
    std::int64_t t_ns = 0;  // ns, end of the integration
    std::int64_t integration_time_us = 0;  // µs, since the sample before; 0 on the first
    double integrated_x = 0;  // rad, about x
    double integrated_y = 0;  // rad, about y
    Vector integrated_gyro{};  // rad, about x, y, z, right-handed
    std::int64_t quality = 0;  // 0 (nothing to see; the flow is then 0) to 255
    double distance = 0;  // m, to the centre of the view; negative: unknown
    static OpticalFlowSample from(const Value& value) {
        expect_record(value, {"OpticalFlowSample"});
        return {value["t_ns"].integer(), value["integration_time_us"].integer(), value["integrated_x"].number(),
                value["integrated_y"].number(), value["integrated_gyro"].numbers<3>(), value["quality"].integer(),
                value["distance"].number()};
    }
};
struct LidarScan {
    std::int64_t t_ns = 0;  // ns, the end of the sweep
    Array points;  // (n, 3), m, each in the sensor's axes at the instant of its firing
    Array ranges;  // (n), m, the length of each point
    Array intensities;  // (n), 0..1, share of the light sent back
    Array rings;  // (n), channel, 0 the lowest
    Array offsets_ns;  // (n), ns, firing minus `t_ns`, zero or negative
    Array classes;  // (n), semantic class of the hit object; 0 for drops, flakes, fog and dust
    Array instances;  // (n), number of the hit object; 0 for drops, flakes, fog and dust
    static LidarScan from(const Value& value) {
        expect_record(value, {"LidarScan"});
        return {value["t_ns"].integer(), value["points"].array(), value["ranges"].array(),
                value["intensities"].array(), value["rings"].array(), value["offsets_ns"].array(),
                value["classes"].array(), value["instances"].array()};
    }
};
struct DepthImage {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    Array depth;  // (height, width), m, along the optical axis; 0 where there is no value
    static DepthImage from(const Value& value) {
        expect_record(value, {"DepthImage"});
        return {value["t_ns"].integer(), value["depth"].array()};
    }
};
struct RadarScan {
    std::int64_t t_ns = 0;  // ns, middle of the burst
    Array volts;  // (n_rx, n_chirps, n_samples), V, complex where the receiver has a quadrature channel
    double folded_share = 0;  // share of the echo's energy from beyond the unambiguous range or speed, 0 to 1
    static RadarScan from(const Value& value) {
        expect_record(value, {"RadarScan"});
        return {value["t_ns"].integer(), value["volts"].array(), value["folded_share"].number()};
    }
};
struct RangeDopplerImage {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    Array power;  // (n_ranges, n_speeds), V², mean over the antennas, row 0 nearest
    Array ranges;  // (n_ranges), m, of each row, coupling with speed not removed
    Array speeds;  // (n_speeds), m/s, of each column, rising; positive: away
    static RangeDopplerImage from(const Value& value) {
        expect_record(value, {"RangeDopplerImage"});
        return {value["t_ns"].integer(), value["power"].array(), value["ranges"].array(), value["speeds"].array()};
    }
};
struct RadarDetections {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    Array points;  // (n, 3), m, sensor axes (forward, left, up)
    Array ranges;  // (n), m, at the middle of the burst
    Array speeds;  // (n), m/s, positive: away
    Array azimuths;  // (n), rad, positive to the left
    Array elevations;  // (n), rad, positive upwards
    Array snr_db;  // (n), dB, over the noise around the peak
    Array track_ids;  // (k), numbers that targets keep
    Array track_positions;  // (k, 3), m, sensor axes
    Array track_velocities;  // (k, 3), m/s, sensor axes
    static RadarDetections from(const Value& value) {
        expect_record(value, {"RadarDetections"});
        return {value["t_ns"].integer(), value["points"].array(), value["ranges"].array(), value["speeds"].array(),
                value["azimuths"].array(), value["elevations"].array(), value["snr_db"].array(),
                value["track_ids"].array(), value["track_positions"].array(), value["track_velocities"].array()};
    }
};
struct BatteryState {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    double voltage = 0;  // V, at the terminals, sag included; 0 on an airframe without a battery
    double current = 0;  // A, positive while draining
    double state_of_charge = 0;  // 1 full, 0 empty
    double energy_used = 0;  // J, since the start
    static BatteryState from(const Value& value) {
        expect_record(value, {"BatteryState"});
        return {value["t_ns"].integer(), value["voltage"].number(), value["current"].number(),
                value["state_of_charge"].number(), value["energy_used"].number()};
    }
};
struct VehicleStatus {
    std::int64_t t_ns = 0;  // ns, the simulated time the record describes
    // disarmed, idle (armed, rotors idling), takeoff, hover, setpoint (following the pilot), goal, home, land
    std::string mode{};
    bool armed = false;  // true while the rotors may turn
    bool landed = false;  // true on the ground: before take-off and from touch-down on
    std::string failsafe{};  // empty, or the active one: "battery low", "setpoint lost", "estimate lost"
    static VehicleStatus from(const Value& value) {
        expect_record(value, {"VehicleStatus"});
        return {value["t_ns"].integer(), value["mode"].text(), value["armed"].boolean(), value["landed"].boolean(),
                value["failsafe"].text()};
    }
};
// ---- end of what it writes
struct CameraImage {
    std::int64_t t_ns = 0;
    int width = 0, height = 0;
    Array colour;  // keeps the pixels alive
    int channels = 3;  // 1 of a camera with mode: grey
    const std::uint8_t* pixels() const { return colour.as<std::uint8_t>().bytes; }  // red, green, blue; top row first
    static CameraImage from(const Value& value) {
        expect_record(value, {"CameraImage"});
        const Array& colour = value["colour"].array();
        const auto& shape = colour.shape();
        const bool grey = shape.size() == 2, rgb = shape.size() == 3 && shape[2] == 3;
        if (!(grey || rgb) || colour.dtype() != "|u1" || std::max(shape[0], shape[1]) > 65535)
            throw ProtocolError("an image that is neither height x width x 3 bytes nor height x width");
        return {value["t_ns"].integer(), static_cast<int>(shape[1]), static_cast<int>(shape[0]), colour, grey ? 1 : 3};
    }
};
struct StreamInfo {
    std::string name, message, vehicle;  // message: class of its records
    double rate_hz = 0;                  // 0 for streams without a fixed rate
    std::int64_t latency_ns = 0;
    Vector mount_position{};                    // m, body axes
    Quaternion mount_quat_wxyz{1, 0, 0, 0};     // body_from_sensor
    Value details;                              // intrinsics, noise...
    static StreamInfo from(const Value& value) {
        const Value &rate = value["rate"], &mount = value["mount"];
        double hz = 0;
        if (!rate.is_nil()) {
            const auto [samples, seconds] = rate.numbers<2>();
            hz = samples / seconds;
        }
        return {value["name"].text(), value["message"].text(), value["vehicle"].text(), hz,
                value["latency_ns"].integer(), mount["position"].numbers<3>(), mount["quat_wxyz"].numbers<4>(),
                value["details"]};
    }
};

struct Sample {
    std::int64_t index = -1, t_ns = 0, arrival_ns = 0;
    Value record;
};

// The data after an answer. Samples stay until newer ones of their stream arrive.
class Bundle {
public:
    std::int64_t t_ns = 0;
    std::string vehicle;
    Value state, status;               // records as received; nil if there are none
    std::vector<Value> events;         // since the previous answer
    std::vector<std::string> refused;  // refused commands and records, with reasons
    Value battery;                     // BatteryState of the vehicle; it also feeds this computer; see Options::energy
    double computer_energy = 0;        // J used by this computer, by the simulator's model; see Options::energy
    std::map<std::string, Sample> samples;  // newest of each stream, by full name
    std::vector<std::pair<std::string, Sample>> arrived;  // all messages of streams asked for with `every`

    VehicleState vehicle_state() const { return VehicleState::from(state); }
    // "imu" is short for "<vehicle>/imu"; nullptr before the first sample.
    const Sample* find(const std::string& stream) const {
        auto found = samples.find(stream);
        if (found == samples.end()) found = samples.find(vehicle + "/" + stream);
        return found == samples.end() ? nullptr : &found->second;
    }
    template <class Record>
    std::optional<Record> get(const std::string& stream) const {
        const Sample* sample = find(stream);
        if (!sample) return std::nullopt;
        return Record::from(sample->record);
    }

    void take(const Value& reply) {
        t_ns = reply["t_ns"].integer();
        state = reply["state"], status = reply["status"];
        events = reply.has("events") ? reply["events"].list() : Value::List{};
        if (reply.has("battery")) battery = reply["battery"];
        if (reply.has("computer_energy_j")) computer_energy = reply["computer_energy_j"].number();
        refused.clear();
        if (reply.has("refused"))
            for (const Value& why : reply["refused"].list()) refused.push_back(why.text());
        arrived.clear();
        if (reply.has("arrived"))
            for (const Value& parts : reply["arrived"].list()) {
                const auto& list = parts.list();
                if (list.size() < 5) throw ProtocolError("a message without stream, index, two times and a record");
                Sample sample{list[1].integer(), list[2].integer(), list[3].integer(), list[4]};
                samples[list[0].text()] = sample;
                arrived.emplace_back(list[0].text(), std::move(sample));
            }
        if (!reply.has("messages")) return;
        for (const auto& [stream, parts] : reply["messages"].map()) {
            const auto& list = parts.list();
            if (list.size() < 4) throw ProtocolError("a sample without index, two times and a record");
            samples[stream] = {list[0].integer(), list[1].integer(), list[2].integer(), list[3]};
        }
    }
};

inline std::int64_t read_clock(clockid_t id) {
    timespec t{};
    clock_gettime(id, &t);
    return std::int64_t{1'000'000'000} * t.tv_sec + t.tv_nsec;
}

// Execution time. On a real board it follows the wall clock. A fast machine imitates a slow one: its ET follows
// the processor time of all threads of this process, divided by `speed` (0.1: a tenth as fast as this machine).
class ExecutionClock {
public:
    ExecutionClock(const std::string& name, double speed)
        : id_(name == "cpu" ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC), speed_(speed) {
        if (name != "cpu" && name != "wall") throw Error("no clock named '" + name + "'; give wall or cpu");
        if (!(speed >= 1e-4 && speed <= 1e3)) throw Error("a speed factor is 0.0001 to 1000, 1 being this machine");
        if (name == "wall" && speed != 1) throw Error("a speed factor needs the clock 'cpu'");
    }
    void run_from(std::int64_t et_ns) { et_ns_ = et_ns, started_ = read_clock(id_), running_ = true; }
    std::int64_t stop() { return et_ns_ = now(), running_ = false, et_ns_; }
    std::int64_t now() const {
        if (!running_) return et_ns_;
        return et_ns_ + static_cast<std::int64_t>(static_cast<double>(read_clock(id_) - started_) / speed_);
    }

private:
    clockid_t id_;
    double speed_;
    std::int64_t et_ns_ = 0, started_ = 0;
    bool running_ = false;
};

// Voluntary sleep of this process: wall time in which it neither ran nor waited for a processor.
class SleepMeter {
public:
    void restart() { before_ = read(); }
    std::int64_t slept_ns() const {
        const Times now = read();
        if (before_.queued < 0 || now.queued < 0) return 0;  // not supported by this system
        return std::max<std::int64_t>(
            0, (now.wall - before_.wall) - (now.cpu - before_.cpu) - (now.queued - before_.queued));
    }

private:
    struct Times { std::int64_t wall = 0, cpu = 0, queued = -1; };
    static Times read() {
        Times out;
        // nanoseconds on a processor (late by up to a tick, so the clock below is used) and in the run queue
        if (std::FILE* file = std::fopen("/proc/self/schedstat", "r")) {
            long long queued = 0;
            if (std::fscanf(file, "%*s %lld", &queued) == 1) out.queued = queued;
            std::fclose(file);
        }
        out.wall = read_clock(CLOCK_MONOTONIC), out.cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        return out;
    }
    Times before_;
};

// A connected TCP socket that carries whole messages.
class Connection {
public:
    explicit Connection(const std::string& address) {
        const auto [host, port] = parts_of(address);
        // Host names are not resolved, because a statically linked program (usual on a small board) could not do that.
        sockaddr_in four{};
        sockaddr_in6 six{};
        four.sin_family = AF_INET, four.sin_port = htons(port), six.sin6_family = AF_INET6, six.sin6_port = htons(port);
        const bool is_four = inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1;
        if (!is_four && inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1)
            throw Error("'" + host + "' is no IP address; give a number such as 192.168.1.2, or localhost");
        const auto* to = is_four ? reinterpret_cast<const sockaddr*>(&four) : reinterpret_cast<const sockaddr*>(&six);
        socket_ = ::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (socket_ < 0 || ::connect(socket_, to, is_four ? sizeof four : sizeof six) != 0) {
            const std::string why = std::strerror(errno);
            close();
            throw ConnectionLost("no simulator at " + address + ": " + why + "; is `skyloop loop` running?");
        }
        const int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { close(); }

    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }
    void write(const Bytes& head) {
        if (head.size() + 4 > kMaxQuestion) throw Error("a question larger than the protocol allows");
        const Bytes out = framed(head);
        for (std::size_t done = 0; done < out.size();) {
            const ssize_t n = ::send(socket_, out.data() + done, out.size() - done, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) throw ConnectionLost(std::string("the simulator is gone: ") + std::strerror(errno));
            done += static_cast<std::size_t>(n);
        }
    }
    Value read() {
        std::array<std::uint8_t, 4> header;
        fill(header.data(), header.size());
        std::size_t length = 0;
        for (int i = 3; i >= 0; --i) length = length << 8 | header[static_cast<std::size_t>(i)];
        if (length > kMaxAnswer) throw ProtocolError("an answer of " + std::to_string(length) + " bytes is too large");
        Bytes message;
        while (message.size() < length) {  // in steps: memory only for received bytes
            const std::size_t had = message.size();
            message.resize(std::min(length, had + (std::size_t{4} << 20)));
            fill(message.data() + had, message.size() - had);
        }
        return decode(std::move(message));
    }

private:
    static std::pair<std::string, std::uint16_t> parts_of(const std::string& address) {
        const auto colon = address.rfind(':');
        const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
        if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
            std::stoi(port) > 65535)
            throw Error("an address is host:port, not '" + address + "'");
        std::string host = address.substr(0, colon);
        if (host == "localhost") host = "127.0.0.1";
        if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
        return {host, static_cast<std::uint16_t>(std::stoi(port))};
    }
    void fill(std::uint8_t* to, std::size_t n) {
        while (n > 0) {
            const ssize_t got = ::recv(socket_, to, n, 0);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw ConnectionLost(std::string("the simulator is gone: ") + std::strerror(errno));
            if (got == 0) throw ConnectionLost("the simulator closed the connection without an answer");
            to += got, n -= static_cast<std::size_t>(got);
        }
    }
    int socket_ = -1;
};

// Empty options come from the environment: SKYLOOP_ADDRESS, SKYLOOP_VEHICLE, SKYLOOP_CLOCK, SKYLOOP_SPEED, set by
// `skyloop loop`.
struct Options {
    std::string address;           // number:port; by default 127.0.0.1:4700
    std::string vehicle;           // may be empty if there is only one
    bool watch = false;            // only read: time does not wait for it, it sends nothing
    std::string role;              // pilot (default), companion: computes beside the pilot and publishes
    std::string estimator;         // the scenario's estimator that this program provides
    std::string clock;             // what execution time follows: wall (default) or cpu
    std::optional<double> speed;   // of the imitated machine; 1 (default) is this one; needs the cpu clock
    std::string name = "skyloop_client.hpp 1";           // for the simulator's log
    std::optional<std::int64_t> period_ns, duration_ns;  // deadlines this program declares
    bool energy = true;            // answers include the battery and this computer's energy

    Options completed() const {
        const auto environment = [](const char* key, const char* otherwise) {
            const char* value = std::getenv(key);
            return std::string(value && *value ? value : otherwise);
        };
        Options out = *this;
        if (out.address.empty()) out.address = environment("SKYLOOP_ADDRESS", "127.0.0.1:4700");
        if (out.vehicle.empty()) out.vehicle = environment("SKYLOOP_VEHICLE", "");
        if (out.clock.empty()) out.clock = environment("SKYLOOP_CLOCK", "wall");
        if (!out.speed) out.speed = std::atof(environment("SKYLOOP_SPEED", "1").c_str());
        return out;
    }
};

class Client {
public:
    explicit Client(const Options& chosen = {})
        : options_(chosen.completed()), clock_(options_.clock, *options_.speed), connection_(options_.address) {
        Packer out;
        out.map("type", "hello", "protocol", std::int64_t{kProtocol}, "client", options_.name, "session", "",
                "vehicle", options_.vehicle, "watch", options_.watch, "role", role(), "estimator",
                options_.estimator, "clock", options_.clock, "speed", *options_.speed,
                "period_ns", options_.period_ns, "duration_ns", options_.duration_ns, "energy", options_.energy);
        connection_.write(out.bytes());
        hello_ = connection_.read();
        const std::string& type = hello_["type"].text();
        if (type == "refused") throw Refused(hello_["why"].text());
        if (type == "end") throw Ended(hello_["why"].text(), 0);
        if (type != "hello" || hello_["protocol"].integer() != kProtocol)
            throw ProtocolError("the other side does not speak protocol " + std::to_string(kProtocol));
        bundle_.vehicle = hello_["vehicle"].text(), bundle_.t_ns = hello_["t_ns"].integer();
        if (hello_.has("streams"))
            for (const auto& [name, info] : hello_["streams"].map()) infos_.emplace(name, StreamInfo::from(info));
        go_on_from(bundle_.t_ns);
    }
    ~Client() { close(std::uncaught_exceptions() == 0); }
    Client(const Client&) = delete;  // ET belongs to one connection
    Client& operator=(const Client&) = delete;

    const Value& hello() const { return hello_; }  // server, mode, vehicles, classes...
    const std::string& vehicle() const { return bundle_.vehicle; }
    const std::map<std::string, StreamInfo>& infos() const { return infos_; }
    const StreamInfo& info(const std::string& stream) const {
        auto found = infos_.find(stream);
        if (found == infos_.end()) found = infos_.find(vehicle() + "/" + stream);
        if (found == infos_.end()) throw Error("there is no stream '" + stream + "'");
        return found->second;
    }
    const Bundle& latest() const { return bundle_; }
    std::int64_t now() const { return clock_.now(); }  // ET, ns

    // The answer is valid until the next question. ET is stamped before the question is encoded. It continues from the
    // answer's time once the answer is decoded. The time between does not count.
    const Bundle& ask(Ask question = {}) {
        const std::int64_t et_ns = clock_.stop();
        if (!open_) throw ConnectionLost("the session is closed");
        for (auto& it : std::exchange(unsent_, {})) question.publish(std::move(it.name), std::move(it.record));
        try {
            connection_.write(question.pack(++number_, et_ns, sleep_.slept_ns(), std::exchange(tasks_, {})));
            bundle_.take(reply());
        } catch (...) {
            open_ = false;  // an answer may be half read, so the connection cannot be used any more
            connection_.close();
            throw;
        }
        go_on_from(bundle_.t_ns);
        return bundle_;
    }
    template <class... Commands>
    const Bundle& send(Commands... commands) {
        Ask question;
        (question.send(std::move(commands)), ...);
        return ask(question);
    }
    const Bundle& sleep_until(std::int64_t t_ns) { return ask(Ask().until(t_ns)); }
    // Publishes on "<vehicle>/<name>", with the next question and at its execution time. `refused` of the answer names
    // refused records, with reasons.
    void publish(std::string name, Record record) { unsent_.push_back({std::move(name), std::move(record)}); }

    // Begins a task. The deadline is in s of ET; the simulator reports a miss. The time counts from the last answer to
    // the first question after end_task.
    void begin_task(const std::string& name, std::optional<double> deadline = {}) {
        std::optional<std::int64_t> ns;
        if (deadline) ns = std::llround(1e9 * *deadline);
        tasks_.push_back({"begin", name, ns});
    }
    void end_task(const std::string& name) { tasks_.push_back({"end", name, {}}); }

    // With a bye the simulator knows that the work is done; without, that something went wrong.
    void close(bool bye = true) {
        if (!std::exchange(open_, false)) return;
        Packer out;
        tasks_.empty() ? out.map("type", "bye") : out.map("type", "bye", "tasks", tasks_);
        try { if (bye) connection_.write(out.bytes()); } catch (const Error&) {}  // already closed: no difference
        connection_.close();
    }

private:
    Value reply() {
        for (;;) {
            Value message = connection_.read();
            const std::string& type = message["type"].text();
            if (type == "end") {
                const std::int64_t t_ns = message.has("t_ns") ? message["t_ns"].integer() : bundle_.t_ns;
                throw Ended(message.has("why") ? message["why"].text() : "the flight is over", t_ns);
            }
            if (type != "reply") continue;  // from a newer simulator: ignored
            if (message["number"].integer() != number_) throw ProtocolError("an answer to another question");
            return message;
        }
    }
    std::string role() const {
        if (!options_.role.empty()) return options_.role;
        return options_.watch ? "watcher" : options_.estimator.empty() ? "pilot" : "companion";
    }
    void go_on_from(std::int64_t t_ns) {
        sleep_.restart();
        clock_.run_from(t_ns);
    }

    Options options_;
    ExecutionClock clock_;
    SleepMeter sleep_;
    Connection connection_;
    Value hello_;
    std::map<std::string, StreamInfo> infos_;
    Bundle bundle_;
    std::vector<Published> unsent_;
    std::int64_t number_ = 0;
    std::vector<TaskChange> tasks_;  // begun and ended since the last question
    bool open_ = true;
};

}  // namespace skyloop
