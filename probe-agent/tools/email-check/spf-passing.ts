import { readBlock, type IpBlock } from "#probe-agent/analysis/network/ip-numbers.ts";
import type { Qualifier } from "#probe-agent/analysis/mail/spf/parse.ts";
import type { SpfNode, SpfTerm } from "#probe-agent/tools/email-check/spf-tree.ts";

const ALL_IPV4 = 2 ** 32;

/** Returns the qualifier of the final `all` of a record or of its redirect; null if there is no `all`. */
export function findFinalQualifier(node: SpfNode): Qualifier | null {
  const last = node.terms.at(-1);
  if (last?.type === "redirect") return last.child === null ? null : findFinalQualifier(last.child);
  return last?.type === "all" ? (last.mechanism?.qualifier ?? null) : null;
}

/** Reports whether a policy passes every sender, or every sender of one address family. */
export function passesEveryone(root: SpfNode): boolean {
  return hasOpenTerm(root) || countPassingIp4(root) === ALL_IPV4;
}

/** Reports whether one term passes every sender of a family before another term refuses them. */
function hasOpenTerm(node: SpfNode): boolean {
  for (const { type, mechanism, child } of node.terms) {
    if (type === "redirect") return child !== null && hasOpenTerm(child);
    // A sender that can choose an address of one family can choose any address of it.
    const everyFamily = (mechanism?.name === "ip4" || mechanism?.name === "ip6") && mechanism.prefix === 0;
    const everyone = type === "all" || everyFamily || (type === "include" && child !== null && hasOpenTerm(child));
    if (everyone) return mechanism?.qualifier === "pass";
  }
  return false;
}

/** Counts the IPv4 addresses that ip4 terms with the result pass cover. Overlapping blocks count once. */
export function countPassingIp4(root: SpfNode): number {
  const blocks = listPassingNodes(root)
    .flatMap(({ terms }) => terms.flatMap(({ mechanism }) => readIp4Block(mechanism) ?? []))
    .toSorted((one, other) => Number(one.value - other.value) || one.prefix - other.prefix);
  let [count, end] = [0, -1];
  for (const { value, prefix } of blocks) {
    const size = 2 ** (32 - prefix);
    // Two blocks are disjoint, or one contains the other. They never overlap in part.
    if (Number(value) <= end) continue;
    count += size;
    end = Number(value) + size - 1;
  }
  return count;
}

/** Lists the records whose pass is a pass of the whole policy. Skips includes with a qualifier other than pass. */
function listPassingNodes(node: SpfNode): SpfNode[] {
  const on = node.terms.filter(({ type, mechanism }) => type === "redirect" || mechanism?.qualifier === "pass");
  return [node, ...on.flatMap(({ child }) => (child === null ? [] : listPassingNodes(child)))];
}

function readIp4Block(mechanism: SpfTerm["mechanism"]): IpBlock | null {
  if (mechanism?.name !== "ip4" || mechanism.qualifier !== "pass") return null;
  return readBlock(`${mechanism.address}/${mechanism.prefix}`);
}
