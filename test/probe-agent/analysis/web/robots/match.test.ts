import { expect, it } from "vitest";
import { createMatcher } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const FILE = parseRobots(
  "user-agent: a\nuser-agent: b\ndisallow: /x\n\nuser-agent: *\ndisallow: /y\n\n" +
    "user-agent: B\nallow: /x/z\n\nuser-agent: *\nallow: /y/z\n",
);

it.each(["/", "/x", "/x/z", "/y", "/y/z"])(
  "a matcher of %s returns the same for an agent as one for that agent alone",
  (path) => {
    const match = createMatcher(FILE, path);
    for (const agents of [["a"], ["b"], ["B"], ["c"], ["*"], [""], ["a", "b"], ["b", "a"], ["c", "a"], []]) {
      expect(match(agents), agents.join()).toEqual(createMatcher(FILE, path)(agents));
    }
  },
);

it("the rules of all groups of an agent are combined, also if they name other agents", () => {
  const match = createMatcher(FILE, "/x/z");
  expect(match(["a"])).toMatchObject({ allowed: false, group: "specific", rule: { line: 3 } });
  expect(match(["b"])).toMatchObject({ allowed: true, group: "specific", rule: { line: 9 } });
  expect(match(["c"])).toMatchObject({ allowed: true, group: "global", rule: null });
  expect(createMatcher(parseRobots(""), "/")(["c"])).toEqual({ allowed: true, rule: null, group: "none" });
});

it("60,000 wildcard rules for * are evaluated once, not once for each of a thousand agents", () => {
  const match = createMatcher(parseRobots(`user-agent: *\n${"allow:*a\n".repeat(60_000)}`), "/");
  const started = cpuTime();
  for (let n = 0; n < 1000; n += 1) expect(match([`bot-${n}`]).group).toBe("global");
  expect(cpuTime() - started).toBeLessThan(3000);
});
