import { failed, refused, type Failed, type Refused } from "#shared/contracts/outcome.ts";

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ["network_unreachable", "this probe has no route to the address"],
  ["not_permitted", "this probe's system forbids the connection"],
  ["out_of_sockets", "this probe has no socket left"],
  ["cancelled", "the check ended before the connection attempt"],
]);

/**
 * Returns the failure (stage connect) for a TCP probe's reason that concerns the probe itself. Null if the reason
 * concerns the target.
 */
export function probeFault(reason: string | null): Failed | Refused | null {
  if (reason === "target_not_allowed") return refused;
  const message = MESSAGES.get(reason ?? "");
  return message === undefined || reason === null ? null : failed("connect", "probe", reason, message);
}
