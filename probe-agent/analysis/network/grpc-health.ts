/** Path of the method Check of a health service (grpc.health.v1.Health). */
export const HEALTH_PATH = "/grpc.health.v1.Health/Check";

/** What a health service can say (grpc.health.v1.HealthCheckResponse.ServingStatus), by number. */
export const SERVING_STATUS = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"] as const;

/** Length of the prefix of a message: whether it is compressed, and its length in 32 bits. */
export const PREFIX_BYTES = 5;

/** Encodes a HealthCheckRequest about a service, null for the server as a whole, as a message with its prefix (gRPC over HTTP/2, Length-Prefixed-Message). */
export function encodeRequest(service: string | null): Uint8Array {
  const name = Buffer.from(service ?? "");
  // Field 1 of the wire type for lengths. A field of proto3 without a value is left out.
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...encodeVarint(name.length)]), name]);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

function encodeVarint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...encodeVarint(value >>> 7)];
}

/**
 * Decodes the number of the status in a HealthCheckResponse: field 1, a varint, of which the last counts; 0 if there is
 * none. Other fields are skipped. Returns null if the octets are no such message.
 */
export function decodeStatus(message: Buffer): number | null {
  let status = 0;
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    if (tag === null) return null;
    at = tag.end;
    switch (tag.value & 7) {
      case 0: {
        const number = readVarint(message, at);
        if (number === null) return null;
        at = number.end;
        if (tag.value >>> 3 === 1) status = number.value;
        break;
      }
      case 1:
        at += 8;
        break;
      case 2: {
        const length = readVarint(message, at);
        if (length === null) return null;
        at = length.end + length.value;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return null;
    }
  }
  return at === message.length ? status : null;
}

/** Octets of the longest varint that is read: 28 bits are more than any length or status here. */
const MOST_VARINT_BYTES = 4;

function readVarint(octets: Buffer, from: number): { readonly value: number; readonly end: number } | null {
  let value = 0;
  for (let count = 0; count < MOST_VARINT_BYTES; count += 1) {
    const octet = octets[from + count];
    if (octet === undefined) return null;
    value |= (octet & 0x7f) << (7 * count);
    if (octet < 0x80) return { value, end: from + count + 1 };
  }
  return null;
}
