import { describe, expect, it } from "vitest";
import { queriesOf, readDashboards } from "#test/support/grafana.ts";

// The form of the dashboards. test/lab/grafana.test.ts runs their queries.
const dashboards = readDashboards();

it("the dashboards have names of their own", () => {
  expect(dashboards.map(({ name, uid }) => `${name} ${uid}`)).toEqual([
    "api.json vantage-api",
    "fleet.json vantage-fleet",
    "monitors.json vantage-monitors",
    "slo.json vantage-slo",
  ]);
});

describe.each(dashboards)("$name", (dashboard) => {
  const { panels, templating, annotations, schemaVersion } = dashboard;

  it("is a dashboard that Grafana 10 and later read", () => {
    // The version of Grafana 10.0, which later ones migrate.
    expect(schemaVersion).toBe(38);
  });

  it("has few panels, each with an id of its own, a title, a description and a unit", () => {
    expect(panels.length).toBeLessThanOrEqual(11);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, description, fieldConfig } of panels) {
      expect(title).not.toBe("");
      expect(description, title).toMatch(/^[A-Z0-9].+\.$/);
      expect(fieldConfig.defaults.unit, title).toMatch(/^[a-z]+$/);
    }
  });

  it("has no panel upon another", () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  it("takes everything from the data source that is chosen", () => {
    const [source, ...variables] = templating.list;
    expect(source).toMatchObject({ type: "datasource", name: "datasource", query: "prometheus" });
    for (const part of [...variables, ...panels, ...annotations.list])
      expect(part).toMatchObject({ datasource: { type: "prometheus", uid: "${datasource}" } });
  });

  it("uses each of its variables, and no other", () => {
    const variables = templating.list.filter((variable) => variable.type === "query");
    const texts = [...queriesOf(dashboard).map(({ expr }) => expr), ...variables.map(({ query }) => query.query)];
    const used = new Set(texts.flatMap((text) => text.match(/\$\w+/g) ?? []));
    used.delete("$__rate_interval");
    expect([...used].toSorted()).toEqual(variables.map(({ name }) => `$${name}`).toSorted());
  });
});
