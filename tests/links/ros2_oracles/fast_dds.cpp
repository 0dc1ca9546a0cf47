// A node on Fast DDS that does what rmw_fastrtps does: messages pass as bytes, services by the related sample identity.
//
// Arguments: the domain, and where it is heard: "default", "localhost" (Humble with ROS_LOCALHOST_ONLY=1) or "jazzy"
// (Jazzy with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST). Reads lines and answers each with one line; bytes are hex:
//   read TOPIC TYPE best|reliable|latched     -> ok; or as rclpy reads: plain for `10`, sensor for qos_profile_sensor_data
//   take TOPIC COUNT SECONDS                  -> messages with a blank between them
//   count TOPIC COUNT SECONDS                 -> how many messages came
//   peers                                     -> the participants it knows
//   write TOPIC TYPE BYTES SECONDS            -> how many readers were found
//   call SERVICE TYPE BYTES SECONDS           -> the reply
#include <atomic>
#include <chrono>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using Bytes = std::vector<unsigned char>;
using Clock = std::chrono::steady_clock;

// Bytes in CDR, with their header of four bytes, as they are on the wire.
struct RawType : TopicDataType {
  explicit RawType(const std::string& name) {
    setName(name.c_str());
    m_typeSize = 64;  // grows with what is sent
    m_isGetKeyDefined = false;
    auto_fill_type_information(false);
  }
  bool serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) override {
    const Bytes& bytes = *static_cast<Bytes*>(data);
    std::memcpy(payload->data, bytes.data(), bytes.size());
    payload->length = bytes.size();
    payload->encapsulation = CDR_LE;
    return true;
  }
  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) override {
    static_cast<Bytes*>(data)->assign(payload->data, payload->data + payload->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
  }
  void* createData() override { return new Bytes; }
  void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
  bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }
};

std::string hex(const Bytes& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string text;
  for (unsigned char one : bytes) text += {digits[one >> 4], digits[one & 15]};
  return text;
}

Bytes unhex(const std::string& text) {
  Bytes bytes;
  for (size_t k = 0; k + 1 < text.size(); k += 2) bytes.push_back(std::stoi(text.substr(k, 2), nullptr, 16));
  return bytes;
}

DomainParticipantQos reach(const std::string& where, int domain) {
  // of the file that FASTRTPS_DEFAULT_PROFILES_FILE names, if there is one
  DomainParticipantFactory::get_instance()->load_profiles();
  DomainParticipantQos quality = DomainParticipantFactory::get_instance()->get_default_participant_qos();
  quality.wire_protocol().builtin.readerHistoryMemoryPolicy =
      eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  quality.wire_protocol().builtin.writerHistoryMemoryPolicy =
      eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  const char user_data[] = "enclave=/;";
  quality.user_data().assign(user_data, user_data + sizeof user_data);
  if (where == "default") return quality;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  quality.transport().use_builtin_transports = false;
  if (where == "localhost") {
    udp->interfaceWhiteList.emplace_back("127.0.0.1");
  } else {
    quality.wire_protocol().builtin.metatrafficMulticastLocatorList.clear();
    quality.wire_protocol().builtin.metatrafficUnicastLocatorList.push_back(eprosima::fastrtps::rtps::Locator_t());
    quality.transport().user_transports.push_back(
        std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>());
    udp->maxInitialPeersRange = 32;
    eprosima::fastrtps::rtps::Locator_t peer;
    eprosima::fastrtps::rtps::IPLocator::setIPv4(peer, "127.0.0.1");
    quality.wire_protocol().builtin.initialPeersList.push_back(peer);
  }
  quality.transport().user_transports.push_back(udp);
  return quality;
}

// Counts the participants that it knows.
struct Peers : DomainParticipantListener {
  std::atomic<int> known{0};
  void on_participant_discovery(DomainParticipant*, eprosima::fastrtps::rtps::ParticipantDiscoveryInfo&& news) override {
    using Info = eprosima::fastrtps::rtps::ParticipantDiscoveryInfo;
    known += news.status == Info::DISCOVERED_PARTICIPANT;
    known -= news.status == Info::REMOVED_PARTICIPANT || news.status == Info::DROPPED_PARTICIPANT;
  }
};

struct Client {
  DataWriter* asks;
  DataReader* replies;
};

struct Node {
  DomainParticipant* participant;
  Publisher* publisher;
  Subscriber* subscriber;
  std::map<std::string, DataReader*> readers;
  std::map<std::string, DataWriter*> writers;
  std::map<std::string, Client> clients;

  // ROS 2's name of a type, such as std_srvs/srv/Trigger_Request, is std_srvs::srv::dds_::Trigger_Request_ in DDS
  Topic* topic(const std::string& name, const std::string& type) {
    const size_t last = type.rfind('/');
    std::string dds = type.substr(0, last) + "::dds_::" + type.substr(last + 1) + "_";
    dds.replace(dds.find('/'), 1, "::");
    TypeSupport support(new RawType(dds));
    support.register_type(participant);
    return participant->create_topic(name, dds, TOPIC_QOS_DEFAULT);
  }

  DataReader* read(const std::string& name, const std::string& type, const std::string& how) {
    DataReaderQos quality = DATAREADER_QOS_DEFAULT;
    quality.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    quality.history().depth = how == "plain" ? 10 : how == "sensor" ? 5 : 400;
    if (how != "best" && how != "sensor") quality.reliability().kind = RELIABLE_RELIABILITY_QOS;
    if (how == "latched") quality.durability().kind = TRANSIENT_LOCAL_DURABILITY_QOS;
    return subscriber->create_datareader(topic(name, type), quality);
  }

  DataWriter* write(const std::string& name, const std::string& type) {
    DataWriterQos quality = DATAWRITER_QOS_DEFAULT;
    quality.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    quality.durability().kind = VOLATILE_DURABILITY_QOS;
    return publisher->create_datawriter(topic(name, type), quality);
  }
};

template <typename Done>
bool wait(double seconds, Done done) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

int matched(DataWriter* writer) {
  PublicationMatchedStatus status;
  writer->get_publication_matched_status(status);
  return status.current_count;
}

int matched(DataReader* reader) {
  SubscriptionMatchedStatus status;
  reader->get_subscription_matched_status(status);
  return status.current_count;
}

// Returns how many messages came, and adds them to `text`, if there is one.
int take(DataReader* reader, int count, double seconds, std::string* text) {
  int found = 0;
  wait(seconds, [&] {
    Bytes bytes;
    SampleInfo info;
    while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data && ++found && text) *text += (text->empty() ? "" : " ") + hex(bytes);
    return found >= count;
  });
  return found;
}

std::string call(Client& client, Bytes question, double seconds) {
  wait(seconds, [&] { return matched(client.asks) && matched(client.replies); });
  eprosima::fastrtps::rtps::WriteParams about;
  about.related_sample_identity().writer_guid() = client.replies->guid();
  if (!client.asks->write(&question, about)) return "not written";
  std::string text = "no reply";
  wait(seconds, [&] {
    Bytes bytes;
    SampleInfo info;
    while (client.replies->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
      const auto& to = info.related_sample_identity;
      const bool ours = to.writer_guid() == client.replies->guid() || to.writer_guid() == client.asks->guid();
      if (info.valid_data && ours && to.sequence_number() == about.sample_identity().sequence_number()) {
        text = hex(bytes);
        return true;
      }
    }
    return false;
  });
  return text;
}

int main(int, char** arguments) {
  const int domain = std::atoi(arguments[1]);
  Node node;
  Peers peers;
  node.participant = DomainParticipantFactory::get_instance()->create_participant(
      domain, reach(arguments[2], domain), &peers, StatusMask::none());
  if (!node.participant) return 1;
  node.publisher = node.participant->create_publisher(PUBLISHER_QOS_DEFAULT);
  node.subscriber = node.participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
  std::cout << "ready" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string verb, name, type, more;
    double seconds = 0;
    words >> verb >> name;
    if (verb == "read") {
      words >> type >> more;
      node.readers[name] = node.read((name[0] == '/' ? "rt" : "") + name, type, more);
      std::cout << "ok" << std::endl;
    } else if (verb == "take" || verb == "count") {
      int count = 0;
      words >> count >> seconds;
      std::string text;
      const int found = take(node.readers[name], count, seconds, verb == "take" ? &text : nullptr);
      std::cout << (verb == "take" ? text : std::to_string(found)) << std::endl;
    } else if (verb == "peers") {
      std::cout << peers.known << std::endl;
    } else if (verb == "write") {
      words >> type >> more >> seconds;
      if (!node.writers.count(name)) node.writers[name] = node.write("rt" + name, type);
      DataWriter* writer = node.writers[name];
      wait(seconds, [&] { return matched(writer) > 0; });
      Bytes bytes = unhex(more);
      writer->write(&bytes);
      std::cout << matched(writer) << std::endl;
    } else {
      words >> type >> more >> seconds;
      if (!node.clients.count(name))
        node.clients[name] = {node.write("rq" + name + "Request", type + "_Request"),
                              node.read("rr" + name + "Reply", type + "_Response", "reliable")};
      std::cout << call(node.clients[name], unhex(more), seconds) << std::endl;
    }
  }
  node.participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(node.participant);
}
