import { describe, expect, it } from "vitest";
import { DOWN, openRecording, UP } from "#test/control-plane/watching/checking/watch/recording.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const recording = await stopAfterAll(openRecording());

describe("a monitor whose planned checks fail at one location and pass on the re-check", () => {
  it("shows the fault from the first on, and an advisory, degraded and a count from the third", async () => {
    const monitor = await recording.watch({ degraded_ms: 500 });
    await monitor.end(await monitor.begin(), UP);
    const failFirst = async () => {
      const entries = await monitor.begin();
      const there = entries.filter(({ location }) => location === "eu-west");
      await monitor.end(
        entries.filter((entry) => !there.includes(entry)),
        UP,
      );
      await monitor.end(there, DOWN);
      const again = await monitor.begin();
      await monitor.end(
        again.filter(({ location }) => location === "eu-west"),
        UP,
        true,
      );
    };
    await failFirst();
    expect(await monitor.shown()).toMatchObject({ status: "up", last_error: { reason: "refused" }, advisory: null });
    await failFirst();
    await failFirst();
    const message = "The first try fails each time in eu-west, 3 times in a row: refused";
    expect(await monitor.shown()).toMatchObject({
      status: "up",
      degraded: true,
      last_error: { reason: "refused" },
      advisory: { locations: ["eu-west"], message },
    });
    expect(await monitor.softState()).toBe(3);
    expect(await monitor.events("monitor.degraded")).toMatchObject([
      { cause: { code: "first_tries", message }, response_time_ms: null },
    ]);
    expect(await monitor.events("monitor.advisory")).toMatchObject([{ advisory: { locations: ["eu-west"], message } }]);
    await monitor.end(await monitor.begin(), UP);
    expect(await monitor.shown()).toMatchObject({ last_error: null, advisory: null });
  });
});
