// npm run capacity [-- --monitors 1000000 --replicas 24 ...]: without options the table of deploy/capacity.md, with
// options what becomes of one deployment. The options are the fields of Load and Deployment (simulate.ts) in kebab-case;
// those that are not given are of the first deployment of the table.
import { parseArgs } from "node:util";
import { DEPLOYMENTS, USUAL_LOAD } from "./figures.ts";
import type { Deployment, Load } from "./simulate.ts";
import { formatDeployment, formatDeployments } from "./table.ts";

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Replaces the fields that options name. */
function replaceGiven<Fields extends Load | Deployment>(
  usual: Fields,
  values: Readonly<Record<string, unknown>>,
): Fields {
  const entries = Object.entries(usual).map(([name, value]) => {
    const text = values[kebab(name)];
    if (typeof text !== "string") return [name, value];
    const read = Number(text);
    if (!(read >= 0)) throw new Error(`--${kebab(name)} must be a number, not ${text}`);
    return [name, read];
  });
  return Object.fromEntries(entries) as Fields;
}

const [first] = Object.values(DEPLOYMENTS);
if (first === undefined) throw new Error("there are no deployments");
const names = [...Object.keys(USUAL_LOAD), ...Object.keys(first)].map(kebab);
try {
  const { values } = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });
  const load = replaceGiven(USUAL_LOAD, values);
  const isTable = Object.keys(values).length === 0;
  console.log(isTable ? formatDeployments() : formatDeployment(load, replaceGiven(first, values)));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\nOptions: --${names.join(", --")}`);
  process.exitCode = 2;
}
