#pragma once

#include "joulecast/worker/json_field.h"
#include "joulecast/worker/protocol.h"

// For the .cpp files of this room, and of a program that workers ask (workers/metering): the structs of the protocol as
// JSON objects and back.
namespace joulecast::protocol {

Json to_json(const MeasureSettings& settings);
Json to_json(const OperatingPoint& point);
Json to_json(const Measurement& measurement);
Json to_json(const NetworkMeasurement& measurement);
Json to_json(const Capabilities& capabilities);
Json to_json(const Prepared& prepared);
Json to_json(const EnergySummary& energy);
Json to_json(const Conditions& conditions);

MeasureSettings settings_from(const Fields& fields);
OperatingPoint point_from(const Fields& fields);
Measurement measurement_from(const Fields& fields);
NetworkMeasurement network_measurement_from(const Fields& fields);
/// The text field `optimizer`, which must be there.
Optimizer optimizer_from(const Fields& fields);
Capabilities capabilities_from(const Fields& fields);
Prepared prepared_from(const Fields& fields);

}  // namespace joulecast::protocol
