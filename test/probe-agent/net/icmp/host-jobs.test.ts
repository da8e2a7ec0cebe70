import { expect, it } from "vitest";
import { createHostJobs } from "#probe-agent/net/icmp/host-jobs.ts";
import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";

it("passes a job its events up to the one that ends it", () => {
  const jobs = createHostJobs();
  const events: JobEvent["kind"][] = [];
  const job = jobs.add(({ kind }) => events.push(kind));
  const hop = { hop: 1, sent: 1, roundTripsMs: [], evidence: { sampled: 0, lost: 0, unclear: 0 }, replies: [] };
  jobs.deliver({ job, kind: "hop", hop });
  jobs.deliver({ job, kind: "trace_done", reached: true });
  jobs.deliver({ job, kind: "hop", hop });
  expect(events).toEqual(["hop", "trace_done"]);
  expect(jobs.remove(job)).toBe(false);
});

it("fails all open jobs when the process ends, and no cancelled one", () => {
  const jobs = createHostJobs();
  const failed: number[] = [];
  const [first, second] = [1, 2].map(() => jobs.add((event) => failed.push(event.job)));
  expect(jobs.remove(first ?? 0)).toBe(true);
  jobs.failAll("icmp_process_lost", "the agent's ICMP process ended");
  expect(failed).toEqual([second]);
});
