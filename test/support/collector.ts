/** A test's own OpenTelemetry Collector: it receives OTLP over HTTP on loopback, and prints what it got. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/local/free-port.ts";
import { locatePrograms } from "../../src/local/locate-programs.mjs";
import { type RestartableProgram, startProgram } from "./restartable-program.ts";

/**
 * A log record as the collector printed it: `fields` by their names there, attributes of record and resource by theirs.
 */
type ReceivedRecord = {
  fields: Record<string, string>;
  attributes: Record<string, string>;
  resource: Record<string, string>;
};

export type Collector = Omit<RestartableProgram, "child"> & {
  port: number;
  endpoint: string;
  /** All that it ever received, in its order. */
  received(): ReceivedRecord[];
  /**
   * All spans that it ever received: `Name`, `Trace ID`, `ID`, `Parent ID`, `Kind`, `Status code`, times, `TraceState`,
   * `Link Trace ID` and `Link ID`, and attributes.
   */
  spans(): Record<string, string>[];
  /** Everything that it printed. */
  printed(): string;
};

/** Why tests with a collector are left out on this machine, if they are. */
export const withoutCollector = (): string | undefined =>
  locatePrograms(process.env).otelcol ? undefined : "otelcol is missing: node scripts/setup.mjs --tests";

const configOf = (port: number): string => `
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
exporters:
  debug:
    verbosity: detailed
    use_internal_logger: false
service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [debug]
    traces:
      receivers: [otlp]
      exporters: [debug]
  telemetry:
    metrics:
      level: none
`;

const attribute = /^ +-> ([^:]+): (?:Str|Int|Bool)\((.*)\)$/;

/** Reads the debug exporter's blocks: a resource, then its records; each line is `name: value` or an attribute. */
const parse = (text: string): ReceivedRecord[] => {
  const records: ReceivedRecord[] = [];
  let resource: Record<string, string> = {};
  let attributes: Record<string, string> = {};
  let fields: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.startsWith("ResourceLog #")) {
      resource = {};
      attributes = resource;
      fields = {};
    } else if (line.startsWith("LogRecord #")) {
      const record = { fields: {}, attributes: {}, resource };
      records.push(record);
      ({ fields, attributes } = record);
    }
    const [, name, value] = attribute.exec(line) ?? [];
    if (name !== undefined && value !== undefined) attributes[name] = value;
    const colon = line.indexOf(": ");
    if (colon > 0 && !line.startsWith(" ")) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  return records;
};

const parseSpans = (text: string): Record<string, string>[] =>
  text
    .split(/^Span #\d+$/m)
    .slice(1)
    .map((block) => {
      const [own = ""] = block.split(/^(?:Resource|Scope)Spans #/m);
      const fields = [...own.matchAll(/^ {4}(\w[\w ]*?) *: (.*)$/gm)].map(([, name = "", value = ""]) => [name, value]);
      const attributes = own.split("\n").flatMap((line) => {
        const [, name, value] = attribute.exec(line) ?? [];
        return name === undefined ? [] : [[name, value]];
      });
      const [, linkTrace, link] = /^SpanLink #0\n +-> Trace ID: (\w+)\n +-> ID: (\w+)/m.exec(own) ?? [];
      const links = link === undefined ? [] : Object.entries({ "Link Trace ID": linkTrace, "Link ID": link });
      return Object.fromEntries([...fields, ...attributes, ...links]);
    });

/** Starts it on a free port; `start` after `kill` takes the same one. */
export const startCollector = async (): Promise<Collector> => {
  const program = locatePrograms(process.env).otelcol;
  const port = await freePort("127.0.0.1");
  if (!program || port === undefined) throw new Error(withoutCollector() ?? "no free port on 127.0.0.1");
  const folder = await mkdtemp(join(tmpdir(), "collector-"));
  const file = join(folder, "config.yaml");
  await writeFile(file, configOf(port));
  let printed = "";
  const onOutput = (text: string): void => {
    printed += text;
  };
  const { child: _child, ...running } = await startProgram(program, {
    args: ["--config", `file:${file}`],
    port,
    folder,
    onOutput,
  });
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    received: () => parse(printed),
    spans: () => parseSpans(printed),
    printed: () => printed,
    ...running,
  };
};
