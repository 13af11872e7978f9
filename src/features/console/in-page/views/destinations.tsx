/** Where the telemetry of the project's sessions is sent, with what came of the last exports. */
import type { TelemetryDestinationAnswer } from "../../../telemetry/destinations/telemetry-destination.ts";
import { destinationFields } from "../parts/destination-fields.ts";
import { DestinationState } from "../parts/destination-words.tsx";
import type { Form } from "../parts/form.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import type { Column } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";

const columns: readonly Column<TelemetryDestinationAnswer>[] = [
  {
    key: "name",
    title: "Destination",
    cell: ({ name, id }) => (
      <a href={to(["telemetry", id])}>
        <Text of={name} />
      </a>
    ),
    sortBy: ({ name }) => name.toLowerCase(),
  },
  {
    key: "state",
    title: "Exports",
    cell: (destination) => <DestinationState of={destination} />,
    sortBy: ({ consecutive_failures }) => consecutive_failures,
  },
  {
    key: "export",
    title: "Last taken",
    cell: ({ last_export_at }) => <Time at={last_export_at} />,
    sortBy: ({ last_export_at = "" }) => last_export_at,
    isLow: true,
  },
  {
    key: "endpoint",
    title: "Endpoint",
    cell: ({ endpoint }) => <Text of={endpoint} />,
    sortBy: ({ endpoint }) => endpoint,
    isLow: true,
  },
];

const make: Form = {
  title: "Make a destination",
  intro: "It receives what is captured of sessions that name it, as OTLP over HTTP.",
  fields: destinationFields(),
  action: "Make the destination",
  async send(given) {
    const { name, id } = await call<TelemetryDestinationAnswer>("POST", "/telemetry/destinations", { body: given });
    return { said: `Destination ${plainText(name)} is there.`, next: to(["telemetry", id]) };
  },
};

/** All destinations. */
export const View = () => (
  <ObjectList<TelemetryDestinationAnswer>
    title="Telemetry"
    one="destination"
    path="/telemetry/destinations"
    kind="telemetry_destination"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={({ name, endpoint, id }) => `${name} ${endpoint} ${id}`}
    lead="A destination receives what is captured of sessions, such as an OpenTelemetry Collector does."
    make={{ permission: "pools:write", word: "Make a destination", form: make }}
  />
);
