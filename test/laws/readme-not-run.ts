/** Commands of the documents that test/laws/readme-commands.test.ts does not run, and why. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "deploy/vantage login": "asks on a terminal; test/shared/client/login.test.ts types the answers",
  "deploy/vantage backup /backups/vantage.tar": "test/shared/client/up/backup.test.ts runs it",
  "deploy/vantage backup /backups/vantage.tar.age --passphrase-file /etc/vantage/passphrase":
    "test/shared/client/up/backup.test.ts runs it",
  "deploy/vantage restore /backups/vantage.tar --dry-run": "test/control-plane/backups/refusals.test.ts runs it",
  "deploy/vantage restore /backups/vantage.tar": "test/shared/client/up/backup.test.ts runs it",
  "deploy/vantage rotate master-key --yes": "test/shared/client/up/backup.test.ts runs it",
  "deploy/vantage rotate probe-ca begin": "test/e2e/probe-ca.test.ts does what it asks for",
  "deploy/vantage rotate probe-ca": "as above",
  "deploy/vantage rotate probe-ca finish": "as above",
  "npm test": "this test is a part of it",
  "npm ci": "it would replace the installation that this test runs on",
  "npm run check": "CI runs it beside the tests",
  "node deploy/samples/audit/verify.mjs ~/audit.json ~/audit-secret": "test/e2e/audit-recipes.test.ts runs it",
  "python3 deploy/samples/audit/verify.py ~/audit.json ~/audit-secret":
    "test/e2e/audit-recipes.test.ts runs it where Python is",
  "sh deploy/samples/audit/verify.sh ~/audit.json ~/audit-secret": "test/e2e/audit-recipes.test.ts runs it where jq is",
  "node deploy/samples/webhooks/receive.mjs ~/webhook-secret": "test/e2e/webhook-samples.test.ts runs it",
  "python3 deploy/samples/webhooks/receive.py ~/webhook-secret":
    "test/e2e/webhook-samples.test.ts runs it where Python is",
  "sh deploy/samples/webhooks/verify.sh headers.txt body.json ~/webhook-secret":
    "test/e2e/webhook-samples.test.ts runs it where OpenSSL is",
  "node test/examples/update.ts <name>": "writes an example into the clone; the law of examples checks them",
  "npm run tools": "writes the lists of tools into the clone; the laws of the registry and the readme check them",
  "npm run dev": "test/deploy/dev.test.ts runs what it runs",
  "npm test -- test/e2e/documents.test.ts -u": "it would write files of this repository",
  "npm test -- test/shared/tools/examples.test.ts -u": "it would write files of this repository",
  "npm test -- PATH": "this test is run so",
  "npm run test:gate": "this test is a part of it",
  "npm run test:gate -- STAGE": "a part of npm run test:gate",
  "npm run test:full": "takes hours",
  "npm run test:full -- STAGE": "a part of npm run test:full",
  "npm run test:documented": "installs programs of others from the internet",
  "npm run test:lab": "needs root and network namespaces",
  "npm run test:peers": "installs programs of others from the internet",
  "npm run test:expressions": "test/laws/expressions.test.ts checks the same",
  "npm run test:browser": "needs Chromium",
  "npm run test:faults": "takes minutes",
  "npm run bench": "takes minutes",
  "npm run bench -- growth": "takes half an hour",
  "npm run package": "test/packages/ and test/deploy/package.test.ts make the packages",
  "npm run package -- --chromium": "needs root and Debian's mirror",
  "docker build --file Containerfile --tag vantage .": "test/packages/images.test.ts does it with buildah",
  "docker run --read-only --tmpfs /tmp --volume vantage:/var/lib/vantage --publish 127.0.0.1:8080:8080 vantage":
    "test/packages/images.test.ts makes such a container",
  "docker run --read-only --tmpfs /tmp --volume agent:/var/lib/vantage-agent --cap-drop ALL --cap-add NET_RAW --env VANTAGE_CONTROL_PLANE=control-plane.example:50051 --env VANTAGE_REGION=us-east --env VANTAGE_JOIN_TOKEN=vjt_... vantage-agent":
    "test/packages/images.test.ts makes such a container",
  "docker exec CONTAINER vantage sign-in-link": "a command of the package in a container",
  "curl -fsS https://vantage.example/install/agent.sh | VANTAGE_JOIN_TOKEN=vjt_... VANTAGE_REGION=us-east VANTAGE_CONTROL_PLANE=control-plane.example:50051 sh":
    "test/packages/install.test.ts runs it in a bare Debian",
  "curl -fsS https://vantage.example/install/agent.sh | sh": "test/packages/install.test.ts runs it in a bare Debian",
  "curl -fsS https://vantage.example/install/agent.sh | sh -s -- --remove":
    "test/packages/install.test.ts runs it in a bare Debian",
  "npm run capacity": "test/deploy/capacity.test.ts runs it",
  "npm run capacity -- --monitors 1000000 --replicas 3 --agents 1000 --database-cores 4 --disk-tb 2":
    "test/deploy/capacity.test.ts runs it",
  "npm run capacity -- --shards 10 --replicas 3 --agents 1000 --database-cores 4 --database-gb 16 --disk-tb 1":
    "test/deploy/capacity.test.ts runs it",
  "deploy/vantage exporter --config.file=/etc/prometheus/blackbox.yml":
    "reads the file of another package; test/e2e/exporter.test.ts runs it with one of its own",
};

/** Languages of blocks that are not commands, and what holds them. */
export const BLOCKS: Readonly<Record<string, string>> = {
  yaml: "test/lab/prometheus.test.ts",
  ts: "test/laws/registry.test.ts",
};
