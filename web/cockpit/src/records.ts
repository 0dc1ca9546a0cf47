// Written by tools/record_types.py: the numbers of records as the server sends them.

// The exact state of a vehicle at one instant.
export interface VehicleState {
  position: [number, number, number];  // (3) m
  velocity_world: [number, number, number];  // (3) m/s
  quat_wxyz: [number, number, number, number];  // (4)
  attitude_deg: [number, number, number];  // roll, pitch, yaw
  angular_velocity_body: [number, number, number];  // (3) rad/s
  acceleration_world: [number, number, number];  // (3) m/s²
  angular_acceleration_body: [number, number, number];  // (3) rad/s²
  rotor_speeds: number[];  // (n_rotors) rad/s
  rotor_thrusts: number[];  // (n_rotors) N
  wind_world: [number, number, number];  // (3) m/s
}

// A vehicle's state according to an estimator. The controller may fly on it.
export interface Estimate {
  position: [number, number, number];  // (3) m
  velocity_world: [number, number, number];  // (3) m/s
  quat_wxyz: [number, number, number, number];  // (4)
  attitude_deg: [number, number, number];  // roll, pitch, yaw
  angular_velocity_body: [number, number, number];  // (3) rad/s
  position_sd: [number, number, number];  // (3) m
  velocity_sd: [number, number, number];  // (3) m/s
  attitude_sd: [number, number, number];  // (3) rad
  valid: boolean;
  gyro_bias?: [number, number, number];  // (3) rad/s
  accel_bias?: [number, number, number];  // (3) m/s²
  reason: string;
}

// The battery of a vehicle.
export interface BatteryState {
  voltage: number;  // V
  current: number;  // A
  state_of_charge: number;
  energy_used: number;  // J
}

// The state of a vehicle's autopilot.
export interface VehicleStatus {
  mode: string;
  armed: boolean;
  landed: boolean;
  failsafe: string;
}
