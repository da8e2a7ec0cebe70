// Answers ICMP echoes in the stead of a kernel told not to, each sequence number in a way of its own, and prints "up".
// Argument: JSON of {version, ways: {"<seq>": way}}; a sequence number without a way is answered as it should be.
import raw, { type RawSocket } from "raw-socket";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";

/** What becomes of an echo; milliseconds. */
export type Way =
  | { readonly do: "drop" }
  | { readonly do: "twice" }
  | { readonly do: "change" }
  | { readonly do: "damage" }
  | { readonly do: "delay"; readonly ms: number };

interface Order {
  readonly version: 4 | 6;
  readonly ways: Readonly<Record<string, Way>>;
}

const { version, ways } = JSON.parse(process.argv[2] ?? "{}") as Order;
const socket = raw.createSocket({
  addressFamily: version === 4 ? 1 : 2,
  protocol: version === 4 ? 1 : 58,
  bufferSize: 65_536,
});
const REQUEST = version === 4 ? 8 : 128;
const REPLY = version === 4 ? 0 : 129;
const CHANGED_AT = 40;

socket.on("message", (shared, from) => {
  const packet = Buffer.from(shared).subarray(version === 4 ? 20 : 0);
  if (packet.readUInt8(0) !== REQUEST) return;
  const way = ways[`${packet.readUInt16BE(6)}`];
  packet.writeUInt8(REPLY, 0);
  if (way?.do === "drop") return;
  if (way?.do === "change") packet.writeUInt8(packet.readUInt8(CHANGED_AT) ^ 0xff, CHANGED_AT);
  if (version === 4) {
    packet.writeUInt16BE(0, 2);
    packet.writeUInt16BE(internetChecksum(packet), 2);
  }
  // After the sum: a wrong checksum on IPv4; on IPv6 the kernel sums last.
  if (way?.do === "damage") packet.writeUInt8(packet.readUInt8(CHANGED_AT) ^ 0xff, CHANGED_AT);
  if (way?.do === "delay") setTimeout(answer, way.ms, socket, packet, from);
  else answer(socket, packet, from);
  if (way?.do === "twice") answer(socket, packet, from);
});
process.stdout.write("up\n");

function answer(by: RawSocket, packet: Buffer, to: string): void {
  by.send(
    packet,
    0,
    packet.length,
    to,
    () => {},
    () => {},
  );
}
