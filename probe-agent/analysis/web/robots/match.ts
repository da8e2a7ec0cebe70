import type { RobotsFile, RobotsGroup, RobotsRule } from "#probe-agent/analysis/web/robots/parse.ts";

/** Whether a crawler is allowed to fetch a path, and the rule that decides. */
export interface RobotsVerdict {
  readonly allowed: boolean;
  /** The deciding rule; null if no rule matched, so that the path is allowed. */
  readonly rule: RobotsRule | null;
  /** Whether groups naming the agent, the "*" group, or none applied. */
  readonly group: "specific" | "global" | "none";
}

/** Octets that every crawler must read (RFC 9309 section 2.5). Rules within them are always applied. */
const MUST_READ_OCTETS = 500 * 1024;
/** Maximum character comparisons for wildcard rules beyond them, so that a hostile file cannot block a worker. */
const WILDCARD_BUDGET = 200_000_000;

/**
 * Creates a matcher for many agents and one path, which applies the rules of all groups that name one of the given agents,
 * or of the "*" groups if none does. Agents with the same groups are evaluated only once. `byWriting`: an
 * agent whose name is not a product token, e.g. "Ai2Bot", is also named by a line with its whole name, as its operator
 * documents it.
 */
export function createMatcher(
  file: RobotsFile,
  path: string,
  { byWriting = false }: { readonly byWriting?: boolean } = {},
): (agents: readonly string[]) => RobotsVerdict {
  const named = new Map<string, Set<RobotsGroup>>();
  const name = (agent: string, group: RobotsGroup): void => {
    const key = agent.toLowerCase();
    const groups = named.get(key);
    if (groups === undefined) named.set(key, new Set([group]));
    else groups.add(group);
  };
  for (const group of file.groups) {
    for (const { token, written } of group.userAgents) {
      name(token, group);
      if (byWriting && written !== token) name(written, group);
    }
  }
  const places = new Map(file.groups.map((group, place) => [group, place]));
  const placeOf = (group: RobotsGroup): number => places.get(group) ?? 0;
  const decided = new Map<string, ReturnType<typeof decide>>();
  const decideBy = (groups: ReadonlySet<RobotsGroup>): ReturnType<typeof decide> => {
    const inOrder = [...groups].toSorted((one, other) => placeOf(one) - placeOf(other));
    const key = inOrder.map(placeOf).join(" ");
    const verdict = decided.get(key) ?? decide(inOrder, path);
    decided.set(key, verdict);
    return verdict;
  };
  const everyone = named.get("*");
  let forEveryone: RobotsVerdict | undefined;
  return (agents) => {
    // The empty agent and "*" name no crawler. The "*" groups apply to both.
    const wanted = agents.filter((agent) => agent !== "" && agent !== "*").map((agent) => agent.toLowerCase());
    const groups = new Set(wanted.flatMap((agent) => [...(named.get(agent) ?? [])]));
    if (groups.size > 0) return { ...decideBy(groups), group: "specific" };
    if (everyone === undefined) return { allowed: true, rule: null, group: "none" };
    return (forEveryone ??= { ...decideBy(everyone), group: "global" });
  };
}

/** Decides by the longest matching pattern, Allow on a tie. Empty patterns have no effect (RFC 9309 section 2.2.2). */
function decide(groups: readonly RobotsGroup[], path: string): { allowed: boolean; rule: RobotsRule | null } {
  let allow: RobotsRule | null = null;
  let disallow: RobotsRule | null = null;
  let allowLength = 0;
  let disallowLength = 0;
  let budget = WILDCARD_BUDGET;
  for (const rule of rulesOf(groups)) {
    const best = rule.type === "allow" ? allowLength : disallowLength;
    if (rule.pattern.length <= best) continue;
    if (rule.offset > MUST_READ_OCTETS && rule.pattern.includes("*")) {
      budget -= path.length * 8;
      if (budget < 0) continue;
    }
    const length = rule.type === "allow" ? allowPriority(rule.pattern, path) : priority(rule.pattern, path);
    if (length <= best) continue;
    if (rule.type === "allow") {
      allow = rule;
      allowLength = length;
    } else {
      disallow = rule;
      disallowLength = length;
    }
  }
  return disallowLength > allowLength ? { allowed: false, rule: disallow } : { allowed: true, rule: allow };
}

function* rulesOf(groups: readonly RobotsGroup[]): Generator<RobotsRule> {
  for (const { rules } of groups) yield* rules;
}

/** Google's extension: an Allow of ".../index.htm(l)" also allows the directory itself, but nothing else in it. */
function allowPriority(pattern: string, path: string): number {
  const own = priority(pattern, path);
  const slash = pattern.lastIndexOf("/");
  if (own > 0 || slash === -1 || !pattern.startsWith("/index.htm", slash)) return own;
  return priority(`${pattern.slice(0, slash + 1)}$`, path);
}

function priority(pattern: string, path: string): number {
  return matchesPattern(pattern, path) ? pattern.length : -1;
}

/**
 * Reports whether a pattern matches a path. "*" matches any octets, a final "$" the end of the path. Everything else is
 * compared octet by octet from the start (RFC 9309 section 2.2.3). Each literal part is matched at its leftmost
 * position, which is sufficient and avoids backtracking.
 */
function matchesPattern(pattern: string, path: string): boolean {
  const anchored = pattern.endsWith("$");
  const body = anchored ? pattern.slice(0, -1) : pattern;
  if (!body.includes("*")) return anchored ? path === body : path.startsWith(body);
  const parts = body.split("*");
  const head = parts[0] ?? "";
  const tail = anchored ? (parts.pop() ?? "") : "";
  if (!path.startsWith(head)) return false;
  let at = head.length;
  for (let index = 1; index < parts.length; index += 1) {
    const part = parts[index] ?? "";
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - at >= tail.length && path.endsWith(tail);
}
