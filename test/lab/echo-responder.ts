// Program that answers ICMP echo requests instead of the kernel, each sequence number in its own way, and prints "up".
// Argument: JSON of {version, ways: {"<seq>": way}}. A sequence number without a way gets a correct reply.
import raw, { type RawSocket } from "raw-socket";
import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import { seeded } from "#test/support/seeded.ts";

/** Treatment of an echo request; times in milliseconds. */
export type Way =
  | { readonly do: "drop" }
  | { readonly do: "twice" }
  | { readonly do: "change" }
  | { readonly do: "damage" }
  | { readonly do: "delay"; readonly ms: number }
  | { readonly do: "spray"; readonly packets: number };

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
const LARGEST_PAYLOAD = 65_000;
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
  if (way?.do === "spray") spray(way.packets, from);
  sum(packet);
  // After the checksum, which is therefore wrong on IPv4; on IPv6 the kernel computes it last.
  if (way?.do === "damage") packet.writeUInt8(packet.readUInt8(CHANGED_AT) ^ 0xff, CHANGED_AT);
  if (way?.do === "delay") setTimeout(answer, way.ms, socket, packet, from);
  else answer(socket, packet, from);
  if (way?.do === "twice") answer(socket, packet, from);
});
process.stdout.write("up\n");

function sum(packet: Buffer): void {
  if (version === 6) return;
  packet.writeUInt16BE(0, 2);
  packet.writeUInt16BE(internetChecksum(packet), 2);
}

/** Sends packets of the types that a prober listens to, with any content, up to the maximum size. */
function spray(packets: number, to: string): void {
  const octet = seeded(packets);
  const types = version === 4 ? [0, 3, 11, 12] : [129, 1, 2, 3, 4];
  for (let count = 0; count < packets; count += 1) {
    const length = count % 200 === 0 ? LARGEST_PAYLOAD : 8 + octet();
    const packet = Buffer.from(Array.from({ length }, octet));
    packet.writeUInt8(types[count % types.length] ?? 0, 0);
    // Half of them quote an IP header that looks correct.
    if (count % 2 === 0) packet.writeUInt8(version === 4 ? 0x45 : 0x60, Math.min(8, length - 1));
    sum(packet);
    answer(socket, packet, to);
  }
}

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
