import { expect, it } from "vitest";
import { createUptimeCache } from "#control-plane/surfaces/account-metrics/uptimes.ts";

const UPTIME = { d1: 100, d7: null, d30: null, d90: null };

function makeMonitor(id: number, status = "up") {
  return { id, accountId: 1, tags: [], createdAt: new Date(0), status };
}

it("reads the uptime of a monitor once a minute, and when its status has changed", async () => {
  let now = 1_000;
  const read: number[][] = [];
  const uptimes = createUptimeCache({ monotonic: () => now }, (monitors) => {
    read.push(monitors.map(({ id }) => id));
    return Promise.resolve(new Map(monitors.map(({ id }) => [id, UPTIME])));
  });
  expect((await uptimes([makeMonitor(1)])).get(1)).toEqual(UPTIME);
  now += 59_000;
  // A new monitor does not make the others be read again.
  expect([...(await uptimes([makeMonitor(1), makeMonitor(2)])).keys()]).toEqual([1, 2]);
  now += 2_000;
  await uptimes([makeMonitor(1), makeMonitor(2)]);
  await uptimes([makeMonitor(1), makeMonitor(2, "down")]);
  expect(read).toEqual([[1], [2], [1], [2]]);
});
