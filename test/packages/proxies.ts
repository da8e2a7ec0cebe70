import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#test/laws/source-files.ts";
import { freePort } from "#test/support/free-port.ts";

/** Ports of the proxy and of the service behind it. */
export interface ProxyPorts {
  readonly http: number;
  readonly https: number;
  readonly agents: number;
  readonly service: number;
  readonly grpc: number;
}

/** A proxy with its sample. Certificates and keys are in a folder. */
export interface Sample {
  readonly program: string;
  /** Debian's packages. */
  readonly packages: string;
  readonly file: string;
  /** Whether it passes the port of agents on. */
  readonly passesAgents: boolean;
  words(config: string): readonly string[];
  /** What a test replaces in the sample. */
  changes(place: ProxyPorts & { readonly folder: string }): readonly (readonly [from: string, to: string])[];
  /** What a base path replaces, as the sample itself says. */
  readonly below: readonly (readonly [from: string, to: string])[];
}

/** The samples of deploy/proxy/. */
export const SAMPLES: readonly Sample[] = [
  {
    program: "nginx",
    packages: "nginx libnginx-mod-stream",
    file: "nginx.conf",
    passesAgents: true,
    words: (config) => ["-c", config, "-g", "daemon off; error_log stderr;"],
    changes: ({ http, https, agents, service, grpc, folder }) => [
      ["listen 80;", `listen 127.0.0.1:${http};`],
      ["listen 443 ssl", `listen 127.0.0.1:${https} ssl`],
      ["listen 50051;", `listen 127.0.0.1:${agents};`],
      ["server 127.0.0.1:8080;", `server 127.0.0.1:${service};`],
      ["proxy_pass 127.0.0.1:50050;", `proxy_pass 127.0.0.1:${grpc};`],
      ["/etc/ssl/vantage/fullchain.pem", `${folder}/fullchain.pem`],
      ["/etc/ssl/vantage/privkey.pem", `${folder}/privkey.pem`],
      ["/run/nginx.pid", `${folder}/nginx.pid`],
    ],
    below: [["location / {", "location /vantage/ {"]],
  },
  {
    program: "caddy",
    packages: "caddy",
    file: "Caddyfile",
    passesAgents: false,
    words: (config) => ["run", "--adapter", "caddyfile", "--config", config],
    changes: ({ https, service, folder }) => [
      [
        "\nvantage.example {",
        `\n{\n\tadmin off\n\tauto_https disable_redirects\n\thttps_port ${https}\n\tdefault_bind 127.0.0.1\n}\nvantage.example, status.example {\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`,
      ],
      [" 127.0.0.1:8080 {", ` 127.0.0.1:${service} {`],
    ],
    below: [
      [
        "\treverse_proxy 127.0.0.1:8080 {",
        "\t@vantage path /vantage /vantage/*\n\treverse_proxy @vantage 127.0.0.1:8080 {",
      ],
    ],
  },
  {
    program: "haproxy",
    packages: "haproxy",
    file: "haproxy.cfg",
    passesAgents: true,
    words: (config) => ["-db", "-f", config],
    changes: ({ http, https, agents, service, grpc, folder }) => [
      ["bind :80\n", `bind 127.0.0.1:${http}\n`],
      ["bind :443 ssl", `bind 127.0.0.1:${https} ssl`],
      ["bind :50051", `bind 127.0.0.1:${agents}`],
      ["server vantage 127.0.0.1:8080", `server vantage 127.0.0.1:${service}`],
      ["server vantage 127.0.0.1:50050", `server vantage 127.0.0.1:${grpc}`],
      ["/etc/ssl/vantage/vantage.pem", `${folder}/vantage.pem`],
    ],
    below: [["use_backend vantage\n", "use_backend vantage if { path /vantage } or { path_beg /vantage/ }\n"]],
  },
];

/** Changes the parts of a sample that a test replaces. Throws if the sample does not have one of them, once. */
function change(sample: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((config, [from, to]) => {
    if (config.split(from).length !== 2) throw new Error(`the sample does not have once: ${from}`);
    return config.replace(from, to);
  }, sample);
}

/** A proxy that runs with its sample. */
interface RunningProxy {
  readonly ports: ProxyPorts;
  hasEnded(): boolean;
  output(): string;
  stop(): Promise<unknown>;
}

/** Starts a proxy with its sample. `folder`: of the certificates, and of what it writes. Throws if it is not installed. */
export async function startProxy(
  sample: Sample,
  {
    folder,
    plane,
    isBelow,
  }: {
    readonly folder: string;
    readonly plane: { readonly url: string; readonly grpcPort: number };
    readonly isBelow: boolean;
  },
): Promise<RunningProxy> {
  if (spawnSync(sample.program, ["-v"]).error !== undefined)
    throw new Error(`no ${sample.program}: apt-get install --no-install-recommends ${sample.packages}`);
  const [http, https, agents] = [await freePort(), await freePort(), await freePort()];
  const ports = { http, https, agents, service: Number(new URL(plane.url).port), grpc: plane.grpcPort };
  const given = readFileSync(join(ROOT, "deploy/proxy", sample.file), "utf8");
  for (const [, to] of isBelow ? sample.below : [])
    for (const line of to.trim().split("\n"))
      if (!given.includes(`#   ${line.trim()}`)) throw new Error(`the sample does not say: ${line.trim()}`);
  // Comments have examples of the same lines.
  const lines = given.replaceAll(/^\s*#.*\n/gm, "");
  const config = join(folder, sample.file);
  writeFileSync(config, change(isBelow ? change(lines, sample.below) : lines, sample.changes({ ...ports, folder })));
  const env = { PATH: process.env["PATH"], XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(sample.program, sample.words(config), { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "exit");
  return {
    ports,
    hasEnded: () => child.exitCode !== null,
    output: () => output,
    stop() {
      child.kill("SIGTERM");
      return exited;
    },
  };
}
