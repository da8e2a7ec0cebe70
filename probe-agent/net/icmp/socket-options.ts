import type { RawSocket } from "raw-socket";
import { WANTED_TYPES } from "#probe-agent/net/icmp/packet.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";

// Linux numbers that raw-socket does not export: raw(7), icmp6(7), socket(7), ipv6(7).
const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const SO_RCVBUFFORCE = 33;
const SOL_RAW = 255;
const ICMP_FILTER = 1;
const IPPROTO_ICMPV6 = 58;
const ICMP6_FILTER = 1;
const IPPROTO_IPV6 = 41;
const IPV6_CHECKSUM = 7;
const TCP_CHECKSUM_OFFSET = 16;
const TTL_OPTION = { 4: [0, 2], 6: [IPPROTO_IPV6, 16] } as const;
// IP_MTU_DISCOVER, IPV6_MTU_DISCOVER and IPV6_DONTFRAG: ip(7), ipv6(7). 3 is PROBE, 1 is the default (WANT).
const MTU_DISCOVER = { 4: [0, 10], 6: [IPPROTO_IPV6, 23] } as const;
const IPV6_DONTFRAG = 62;
// IP_HDRINCL: ip(7). IPV6_HDRINCL has no manual page: include/uapi/linux/in6.h, since Linux 4.15.
const HEADER_INCLUDED = { 4: [0, 3], 6: [IPPROTO_IPV6, 36] } as const;
const [PMTUDISC_WANT, PMTUDISC_PROBE] = [1, 3];
/** IANA protocol numbers of the raw sockets, by family. */
export const PROTOCOL = { 4: { icmp: 1, tcp: 6 }, 6: { icmp: IPPROTO_ICMPV6, tcp: 6 } } as const;

// Size of the receive buffer. Thousands of answers can wait while the process is not scheduled.
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Sets the options of a new socket: the receive buffer, and which packets the kernel passes on or completes. */
export function prepareSocket(socket: RawSocket, version: IpVersion, protocol: "icmp" | "tcp"): void {
  setReceiveBuffer(socket);
  if (protocol === "icmp") filterTypes(socket, version);
  else if (version === 6) socket.setOption(IPPROTO_IPV6, IPV6_CHECKSUM, TCP_CHECKSUM_OFFSET);
}

/** Sets the TTL or hop limit of the packets that follow. */
export function setTtl(socket: RawSocket, version: IpVersion, ttl: number): void {
  socket.setOption(TTL_OPTION[version][0], TTL_OPTION[version][1], ttl);
}

/** Forbids or allows fragmentation of the packets that follow, by this host and by routers. */
export function setDontFragment(socket: RawSocket, version: IpVersion, on: boolean): void {
  socket.setOption(MTU_DISCOVER[version][0], MTU_DISCOVER[version][1], on ? PMTUDISC_PROBE : PMTUDISC_WANT);
  if (version === 6) socket.setOption(IPPROTO_IPV6, IPV6_DONTFRAG, on ? 1 : 0);
}

/** Says whether the packets that follow begin with their IP header. */
export function setHeaderIncluded(socket: RawSocket, version: IpVersion, on: boolean): void {
  socket.setOption(HEADER_INCLUDED[version][0], HEADER_INCLUDED[version][1], on ? 1 : 0);
}

function setReceiveBuffer(socket: RawSocket): void {
  try {
    socket.setOption(SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES);
  } catch {
    // Without CAP_NET_ADMIN, the system's limit applies.
    socket.setOption(SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
  }
}

// In both filters, a set bit drops the type. Without a filter, echo requests to the loopback would be received too.
function filterTypes(socket: RawSocket, version: IpVersion): void {
  if (version === 4) {
    socket.setOption(SOL_RAW, ICMP_FILTER, WANTED_TYPES[4].reduce((mask, type) => mask & ~(1 << type), -1) >>> 0);
    return;
  }
  const filter = Buffer.alloc(32, 0xff);
  for (const type of WANTED_TYPES[6]) {
    const word = new Uint32Array(filter.buffer, filter.byteOffset, 8);
    word[type >> 5] = (word[type >> 5] ?? 0) & ~(1 << (type & 31));
  }
  socket.setOption(IPPROTO_ICMPV6, ICMP6_FILTER, filter, filter.length);
}
