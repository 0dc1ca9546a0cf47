// A node on Cyclone DDS's C library: reads /clock and the latched /robot_description, arms by the service /drone/arm as
// rmw_cyclonedds does, then commands velocities until its input ends. Its argument is the domain.
#include <dds/dds.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "Oracle.h"

static int taken(dds_entity_t reader, void *sample) {
  void *samples[1] = {sample};
  dds_sample_info_t info;
  return dds_take(reader, samples, &info, 1, 1) == 1 && info.valid_data;
}

static dds_entity_t topic(dds_entity_t participant, const dds_topic_descriptor_t *type, const char *name) {
  return dds_create_topic(participant, type, name, NULL, NULL);
}

// Whether `call` was answered with success within 20 s.
static int armed(dds_entity_t asks, dds_entity_t replies) {
  static long long number = 0;
  dds_publication_matched_status_t asked;
  dds_subscription_matched_status_t answered;
  for (int k = 0; k < 2000; ++k) {
    dds_get_publication_matched_status(asks, &asked);
    dds_get_subscription_matched_status(replies, &answered);
    if (asked.current_count && answered.current_count) break;
    dds_sleepfor(DDS_MSECS(10));
  }
  dds_instance_handle_t us;
  dds_get_instance_handle(asks, &us);
  std_srvs_srv_dds__SetBool_Request_ question = {us, ++number, true};
  if (dds_write(asks, &question) < 0) return 0;
  for (int k = 0; k < 2000; ++k) {
    std_srvs_srv_dds__SetBool_Response_ reply;
    memset(&reply, 0, sizeof reply);
    if (taken(replies, &reply) && reply.client == us && reply.number == number) return reply.success;
    dds_sleepfor(DDS_MSECS(10));
  }
  return 0;
}

int main(int count, char **arguments) {
  dds_entity_t participant = dds_create_participant(count > 1 ? atoi(arguments[1]) : 0, NULL, NULL);
  if (participant < 0) return 1;
  dds_qos_t *reliable = dds_create_qos(), *latched = dds_create_qos();
  dds_qset_reliability(reliable, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_reliability(latched, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_durability(latched, DDS_DURABILITY_TRANSIENT_LOCAL);
  dds_entity_t clock = dds_create_reader(
      participant, topic(participant, &rosgraph_msgs_msg_dds__Clock__desc, "rt/clock"), NULL, NULL);
  dds_entity_t text = dds_create_reader(
      participant, topic(participant, &std_msgs_msg_dds__String__desc, "rt/robot_description"), latched, NULL);
  dds_entity_t twist = dds_create_writer(
      participant, topic(participant, &geometry_msgs_msg_dds__Twist__desc, "rt/drone/cmd_vel"), reliable, NULL);
  dds_entity_t asks = dds_create_writer(
      participant, topic(participant, &std_srvs_srv_dds__SetBool_Request__desc, "rq/drone/armRequest"), reliable, NULL);
  dds_entity_t replies = dds_create_reader(
      participant, topic(participant, &std_srvs_srv_dds__SetBool_Response__desc, "rr/drone/armReply"), reliable, NULL);
  const int first = armed(asks, replies), second = armed(asks, replies);
  int clocks = 0, texts = 0;
  geometry_msgs_msg_dds__Twist_ command = {{1.5, -0.5, 0.25}, {0.0, 0.0, 0.3}};
  struct pollfd input = {0, POLLIN, 0};
  while (poll(&input, 1, 10) == 0) {
    rosgraph_msgs_msg_dds__Clock_ now;
    std_msgs_msg_dds__String_ description = {NULL};
    while (taken(clock, &now)) ++clocks;
    while (taken(text, &description)) texts += strstr(description.data, "<robot") != NULL;
    dds_write(twist, &command);
    if (clocks >= 20 && texts) {
      printf("armed %d %d, clock, description\n", first, second);
      fflush(stdout);
      clocks = -1 << 30;
    }
  }
  dds_delete(participant);
  return 0;
}
