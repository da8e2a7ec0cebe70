import type { PingResult } from "#shared/tools/ping.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import type { TraceHop } from "#probe-agent/port/packets.ts";

const MOST_MS = 2_900;
const LEAST_MS = 300;

/**
 * Measures the MTU of the traced path, and finds where it narrows. Null, with a reason, if it could not be measured.
 */
export async function measurePathMtu(
  net: Net,
  address: Address,
  hops: readonly TraceHop[],
  leftMs: number,
): Promise<Pick<Required<PingResult>, "path_mtu"> & { readonly limitations: readonly string[] }> {
  // If nothing answered, there is no path to measure.
  const answered = hops.some(({ replies }) => replies.some(({ ip }) => ip !== null));
  if (!answered) return { path_mtu: null, limitations: [] };
  if (leftMs < LEAST_MS) return { path_mtu: null, limitations: ["No time was left to measure the path's MTU."] };
  const measured = await net.trace.pathMtu(address.ip, Math.min(MOST_MS, leftMs));
  if (measured.status !== "ok") {
    return {
      path_mtu: null,
      limitations: ["The path's MTU could not be measured: the probe's packets did not leave."],
    };
  }
  const { bytes, limitedBy, blackHole, method } = measured.data;
  const hop = hops.find(({ replies }) => replies.some(({ ip }) => ip === limitedBy))?.hop ?? null;
  return {
    path_mtu: {
      bytes,
      limited_by: limitedBy === null ? null : { hop, ip: limitedBy },
      black_hole: blackHole,
      method,
    },
    limitations:
      bytes === null
        ? ["The path's MTU is not known, because the target does not answer the echoes used to measure it."]
        : [],
  };
}
