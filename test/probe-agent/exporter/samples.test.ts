import { expect, it } from "vitest";
import { createSamples, family, formatNumber } from "#probe-agent/exporter/samples.ts";

it.each([
  [0, "0"],
  [1, "1"],
  [-1, "-1"],
  [255, "255"],
  [999_999, "999999"],
  [1_000_000, "1e+06"],
  [3_668_918_509, "3.668918509e+09"],
  [-62_135_596_800, "-6.21355968e+10"],
  [1e21, "1e+21"],
  [1e100, "1e+100"],
  [0.5, "0.5"],
  [0.0001, "0.0001"],
  [0.000_049_524, "4.9524e-05"],
  [119.538_132_806, "119.538132806"],
  [1_234_567.5, "1.2345675e+06"],
  [Number.NaN, "NaN"],
  [Number.POSITIVE_INFINITY, "+Inf"],
  [Number.NEGATIVE_INFINITY, "-Inf"],
])("the number %d is written as Go writes it: %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

it("families come by their names and samples by their labels, the last value of each", () => {
  const samples = createSamples();
  const phases = family("probe_b_seconds", "Phases");
  samples.set(phases, 9, { phase: "tls" });
  samples.set(phases, 1, { phase: "tls" });
  samples.add(phases, 2, { phase: "connect" });
  samples.add(phases, 3, { phase: "connect" });
  samples.set(family("probe_a", "First"), 0);
  expect(samples.render()).toBe(
    "# HELP probe_a First\n# TYPE probe_a gauge\nprobe_a 0\n" +
      '# HELP probe_b_seconds Phases\n# TYPE probe_b_seconds gauge\nprobe_b_seconds{phase="connect"} 5\nprobe_b_seconds{phase="tls"} 1\n',
  );
});

it("a label keeps to its line, whatever a target puts into it", () => {
  const samples = createSamples();
  samples.set(family("x", "X"), 1, { subject: 'a"} 1\nevil \\' });
  expect(samples.render().split("\n")[2]).toBe('x{subject="a\\"} 1\\nevil \\\\"} 1');
});
