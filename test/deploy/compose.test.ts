import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readSettings } from "#shared/settings/settings-parse.ts";
import { ROOT } from "#test/laws/source-files.ts";

// What deploy/compose.yaml promises. test/packages/compose.test.ts holds it against the Compose Specification.
const FOLDER = join(ROOT, "deploy");
const text = readFileSync(join(FOLDER, "compose.yaml"), "utf8");

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly restart: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt: readonly string[];
  readonly logging: { readonly options: object };
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly secrets?: readonly (string | { readonly source: string })[];
  readonly networks?: object;
  readonly healthcheck?: object;
  readonly deploy: { readonly resources: { readonly limits: object } };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const { services, secrets } = parse(text, { merge: true }) as Compose;
const rows = Object.entries(services);

/** Puts defaults into the variables of Compose; one without a default gets a text. */
const interpolate = (value: string): string =>
  value.replaceAll(/\$\{\w+:([-?])([^}]*)\}/g, (_all, kind, rest) => (kind === "-" ? String(rest) : "given"));

/** The name of an image without its tag, and the tag. */
const imageOf = ({ image }: Service): readonly string[] => interpolate(image).split(/:(?=[^/]*$)/);

describe.each(rows)("%s", (_name, service) => {
  const [image = "", tag = ""] = imageOf(service);
  const isAgent = image.endsWith("/vantage-agent");

  it("has an image with a version", () => {
    expect(tag).toMatch(/^v?\d/);
  });

  it("has limits", () => {
    expect(service.deploy.resources.limits).toEqual({
      cpus: expect.stringMatching(/^\d$/) as unknown,
      memory: expect.stringMatching(/^\d+[MG]$/) as unknown,
      pids: expect.any(Number) as unknown,
    });
    expect(service.logging.options).toEqual({ "max-size": "10m", "max-file": "5" });
  });

  it("starts again, and is asked whether it is well", () => {
    expect(service.restart).toBe("unless-stopped");
    const own = join(FOLDER, `images/${image.replace(/^localhost\//, "")}.Containerfile`);
    const isChecked = service.healthcheck !== undefined || readFileSync(own, "utf8").includes("\nHEALTHCHECK ");
    expect(isChecked).toBe(true);
  });

  it("has a file system that it cannot write, and no capability but the one that it needs", () => {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(["ALL"]);
    const needed: Readonly<Record<string, string>> = {
      "localhost/vantage-agent": "NET_RAW",
      caddy: "NET_BIND_SERVICE",
    };
    expect(service.cap_add ?? []).toEqual(image in needed ? [needed[image]] : []);
    // An agent gets NET_RAW from a file.
    expect(service.security_opt).toEqual(isAgent ? [] : ["no-new-privileges:true"]);
  });

  it("has no secret in its environment", () => {
    const secret = Object.entries(service.environment ?? {}).filter(([key]) =>
      /PASSWORD|TOKEN|KEY|SECRET|_URL$/.test(key),
    );
    const written = secret.filter(([, value]) => !/\$\{\w+:\?|^\/run\/secrets\//.test(value));
    expect(written).toEqual([]);
  });

  it("mounts what is in the repository, or a secret that the file names", () => {
    const mounted = service.volumes.filter((volume) => volume.startsWith("."));
    for (const volume of mounted) {
      const [path = "", , mode] = volume.split(":");
      expect(existsSync(join(FOLDER, path)), path).toBe(true);
      expect(mode).toBe("ro");
    }
    for (const secret of service.secrets ?? []) {
      const source = typeof secret === "string" ? secret : secret.source;
      expect(secrets[source]?.file).toBe(`./secrets/${source}`);
    }
  });
});

it("the settings of the control plane and the agents are known and valid", () => {
  const own = rows.filter(([, service]) => imageOf(service)[0]?.startsWith("localhost/vantage"));
  expect(own.map(([name]) => name)).toEqual(["control-plane", "agent-eu-west", "agent-us-east", "agent-ap-south"]);
  for (const [name, { environment = {}, command = [] }] of own) {
    const flags = Array.from(command.join(" ").matchAll(/--([a-z-]+) (\S+)/g), ([, flag = "", value = ""]) => [
      `VANTAGE_${flag.toUpperCase().replaceAll("-", "_")}`,
      interpolate(value),
    ]);
    const given = Object.entries(environment).map(([key, value]) => [key, interpolate(value)]);
    const read = readSettings(
      Object.fromEntries([...given, ...flags]) as Record<string, string>,
      name === "control-plane" ? name : "agent",
    );
    expect(read, name).toMatchObject({ ok: true });
  }
});

it("the control plane believes the proxy, and nobody else, who a client is", () => {
  expect(services["proxy"]?.networks).toEqual({ default: { ipv4_address: "172.30.93.2" } });
  expect(services["control-plane"]?.environment?.["VANTAGE_TRUSTED_PROXIES"]).toBe("172.30.93.2/32");
});

it("Prometheus scrapes each of them", () => {
  const { scrape_configs: jobs } = parse(readFileSync(join(FOLDER, "prometheus/containers.yml"), "utf8")) as {
    readonly scrape_configs: readonly {
      readonly static_configs: readonly { readonly targets: readonly string[]; readonly labels?: object }[];
    }[];
  };
  const targets = jobs.flatMap(({ static_configs: configs }) => configs);
  const agents = rows.filter(([name]) => name.startsWith("agent-"));
  expect(targets).toEqual([
    {
      targets: [
        `control-plane${services["control-plane"]?.environment?.["VANTAGE_METRICS_ADDR"]?.replace("0.0.0.0", "")}`,
      ],
    },
    ...agents.map(([name, { environment }]) => ({
      targets: [`${name}${environment?.["VANTAGE_AGENT_METRICS_ADDR"]?.replace("0.0.0.0", "")}`],
      labels: { region: environment?.["VANTAGE_REGION"] },
    })),
    { targets: ["control-plane:8080"] },
  ]);
});

it("Grafana finds the dashboards, and Prometheus", () => {
  const read = (path: string): unknown => parse(readFileSync(join(FOLDER, "grafana/provisioning", path), "utf8"));
  const [provider] = (read("dashboards/vantage.yaml") as { providers: { options: { path: string } }[] }).providers;
  expect(services["grafana"]?.volumes).toContain(`./grafana:${provider?.options.path}:ro`);
  const [source] = (read("datasources/prometheus.yaml") as { datasources: { url: string }[] }).datasources;
  expect(source?.url).toBe("http://prometheus:9090");
  expect(services).toHaveProperty("prometheus");
});
