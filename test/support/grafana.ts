import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#test/laws/source-files.ts";

/** Folder of the dashboards and of their provisioning. */
export const GRAFANA = join(ROOT, "deploy/grafana");

interface DataSource {
  readonly type: string;
  readonly uid: string;
}

/** A panel: what the dashboards use of Grafana's model. */
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: DataSource;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
}

/** A variable of a dashboard: a data source, or the answer of a query. */
export type Variable =
  | { readonly type: "datasource"; readonly name: string; readonly query: string }
  | {
      readonly type: "query";
      readonly name: string;
      readonly datasource: DataSource;
      readonly query: { readonly query: string };
      /** The pattern of the choice "All"; without it, one of all values. */
      readonly allValue?: string;
    };

/** A dashboard. */
export interface Dashboard {
  /** Its file. */
  readonly name: string;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly datasource: DataSource; readonly expr: string }[];
  };
  readonly panels: readonly Panel[];
}

/** Reads the dashboards, by name. */
export function readDashboards(): readonly Dashboard[] {
  const names = readdirSync(GRAFANA).filter((name) => name.endsWith(".json"));
  return names
    .toSorted()
    .map((name) => ({ ...(JSON.parse(readFileSync(join(GRAFANA, name), "utf8")) as Omit<Dashboard, "name">), name }));
}

/** Returns every query of a dashboard's panels and annotations, and where it is. */
export function queriesOf({ name, panels, annotations }: Dashboard): readonly { where: string; expr: string }[] {
  return [
    ...annotations.list.map((annotation) => ({ where: `${name}: ${annotation.name}`, expr: annotation.expr })),
    ...panels.flatMap(({ title, targets }) =>
      targets.map(({ refId, expr }) => ({ where: `${name}: ${title} ${refId}`, expr })),
    ),
  ];
}
