import { describe, expect, it } from "vitest";
import { readTrial } from "#shared/client/commands/nouns.ts";

const tried = (verdict: string, ...checks: readonly object[]) => ({ verdict, checked: true, cause: null, checks });
const silent = (source: string) => ({ status: "unknown", error: { source } });

describe("the exit status of a try", () => {
  it.each<readonly [object, number, number]>([
    [tried("up"), 0, 0],
    [tried("degraded", { status: "degraded" }), 0, 1],
    [tried("down", { status: "down" }), 1, 1],
    [{ ...tried("unknown"), checked: false }, 0, 0],
    // Even votes: the worst of the locations that know something counts.
    [tried("unknown", { status: "up" }, { status: "down" }), 1, 1],
    // A page that answered, with nothing to take a picture of.
    [tried("unknown", silent("target")), 1, 1],
  ])("is that of a tool: %j", (data, critical, warning) => {
    expect(readTrial(data, "critical")).toEqual({ ok: true, exit: critical });
    expect(readTrial(data, "warning")).toEqual({ ok: true, exit: warning });
    expect(readTrial(data, "never")).toEqual({ ok: true, exit: 0 });
  });

  it.each<readonly [object, number]>([
    [tried("unknown", silent("probe")), 4],
    [tried("unknown", silent("service")), 5],
    [tried("unknown"), 4],
  ])("says that nothing is known, and why, where no check says anything: %j", (data, exit) => {
    expect(readTrial({ ...data, cause: { message: "no probe" } }, "never")).toEqual({
      ok: false,
      exit,
      line: "no probe",
    });
    expect(readTrial(data, "critical")).toMatchObject({ ok: false, line: "nothing is known about the target" });
  });
});
