import { createSocket } from "node:dgram";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { IpVersion } from "#probe-agent/port/address.ts";

// Connecting a UDP socket sends nothing, so any port can be used.
const DISCARD_PORT = 9;

/**
 * Returns the local address that the kernel would send from, read from a connected UDP socket. Throws without a route.
 */
export async function localAddress(version: IpVersion, ip: string): Promise<string> {
  const socket = createSocket(version === 4 ? "udp4" : "udp6");
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(DISCARD_PORT, ip, () => resolve(socket.address().address));
    });
  } finally {
    socket.close();
  }
}

const ETHERNET_MTU = 1_500;
/** Largest length that an IPv4 header can contain. A larger IPv6 packet would be a jumbogram. */
const LARGEST_PACKET = 65_535;

/**
 * Returns the MTU in octets of the interface that the kernel would send through. Ethernet's MTU if the system does not
 * report it.
 */
export async function interfaceMtu(version: IpVersion, ip: string): Promise<number> {
  try {
    const local = await localAddress(version, ip);
    const names = Object.entries(networkInterfaces());
    const found = names.find(([, addresses]) => addresses?.some(({ address }) => address === local));
    const mtu = Number(await readFile(`/sys/class/net/${found?.[0] ?? "lo"}/mtu`, "utf8"));
    return Number.isInteger(mtu) && mtu > 0 ? Math.min(mtu, LARGEST_PACKET) : ETHERNET_MTU;
  } catch {
    return ETHERNET_MTU;
  }
}
