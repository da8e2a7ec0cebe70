import { classifyAddress } from "#shared/internet/egress.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

/** Maximum wait for the PTR name after the response, in milliseconds. */
const REVERSE_MS = 250;

/** Looks up the PTR name of an address. Null if there is none in a short time, or if the address is private. */
export async function reverseOf(net: Net, ip: string): Promise<string | null> {
  const patience = Math.min(REVERSE_MS, net.remainingMs() / 2);
  if (classifyAddress(ip) === "refused") return null;
  let timer: NodeJS.Timeout | undefined;
  const timedOutRecords = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), patience);
  });
  const names = await Promise.race([net.dns.reverse(ip), timedOutRecords]);
  clearTimeout(timer);
  return names?.[0] ?? null;
}
