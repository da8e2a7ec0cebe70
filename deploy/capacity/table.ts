import { COSTS, DEPLOYMENTS, LIMITS, TROUBLES, USUAL_LOAD } from "./figures.ts";
import { findMostMonitors, PARTS, simulate, type Deployment, type Load } from "./simulate.ts";

const number = (value: number) => Math.floor(value).toLocaleString("en-US");
/** Two digits: the figures are no more exact. */
const rounded = (value: number) => number(Number(value.toPrecision(2)));

/** Formats the table of deploy/capacity.md: what fills first in each deployment, and the most monitors that it holds. */
export function formatDeployments(): string {
  const troubles = Object.entries(TROUBLES);
  const head = ["deployment", "most monitors", "fills first", ...troubles.map(([what]) => `when ${what}`)];
  const rows = Object.entries(DEPLOYMENTS).map(([name, deployment]) => {
    const monitors = findMostMonitors(USUAL_LOAD, deployment, COSTS, LIMITS);
    const { fullest } = simulate({ ...USUAL_LOAD, monitors }, deployment, COSTS, LIMITS);
    const inTrouble = troubles.map(([, what]) =>
      rounded(findMostMonitors(USUAL_LOAD, deployment, COSTS, LIMITS, what)),
    );
    return [name, rounded(monitors), fullest, ...inTrouble];
  });
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Formats one deployment for a terminal: the use of each part, the most monitors, and what troubles do. */
export function formatDeployment(load: Load, deployment: Deployment): string {
  const verdict = simulate(load, deployment, COSTS, LIMITS);
  return [
    ...PARTS.map(
      (part) => `${part.padEnd(32)}${(verdict.use[part] * 100).toFixed(1).padStart(8)} % of what is planned`,
    ),
    "",
    `${number(load.monitors)} monitors: ${verdict.holds ? "it holds" : `it does not hold; ${verdict.fullest} fills first`}`,
    `It holds up to ${rounded(findMostMonitors(load, deployment, COSTS, LIMITS))} monitors.`,
    ...Object.entries(TROUBLES).map(([what, troubles]) => {
      const { latest, leftOut } = simulate(load, deployment, COSTS, LIMITS, troubles);
      return `When ${what}: checks are up to ${latest.toFixed(1)} s late, ${number(leftOut)} are left out.`;
    }),
  ].join("\n");
}
