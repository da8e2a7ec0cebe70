// Program of the baseline: a bare Fastify route that sends the bytes of a file as JSON, or as the media type in the
// second argument.
import { readFileSync } from "node:fs";
import fastify from "fastify";

const [, , file = "", type = "application/json; charset=utf-8"] = process.argv;
const body = readFileSync(file, "utf8");
const server = fastify();
server.get("/", (_request, reply) => {
  void reply.type(type).send(body);
});
await server.listen({ port: 0, host: "127.0.0.1" });
const address = server.server.address();
process.stdout.write(`${typeof address === "object" && address !== null ? address.port : ""}\n`);
