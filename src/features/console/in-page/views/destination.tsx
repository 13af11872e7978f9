/** One destination of telemetry: what came of its last exports. */
import type { TelemetryDestinationAnswer } from "../../../telemetry/destinations/telemetry-destination.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { destinationFields } from "../parts/destination-fields.ts";
import { DestinationState } from "../parts/destination-words.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage, TextList } from "../parts/object-page.tsx";
import { Stand } from "../parts/stand.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";

type Destination = TelemetryDestinationAnswer;

const change = (destination: Destination, { path, again }: { path: string; again: () => void }): Form => ({
  title: `Change ${plainText(destination.name)}`,
  fields: destinationFields(destination),
  action: "Save the change",
  async send({ description = "" }, { headers, without, ...changed }) {
    const removed = Array.isArray(without) ? without.map((name) => [String(name), null] as const) : [];
    const all = { ...Object.fromEntries(removed), ...(headers ?? {}) };
    const body = {
      ...changed,
      ...("description" in changed && { description }),
      ...(Object.keys(all).length > 0 && { headers: all }),
    };
    await call("PATCH", path, { body });
    again();
    return { said: "The destination is changed." };
  },
});

const Actions = ({ destination, again }: { destination: Destination; again: () => void }) => {
  const path = `/telemetry/destinations/${inPath(destination.id)}`;
  const { name, id, description, endpoint, compression, timeout_seconds } = destination;
  const headerNames = Object.keys(destination.headers);
  const shared = { name, description, endpoint, compression, timeout_seconds };
  const body = {
    ...shared,
    ...(headerNames.length > 0 && { headers: Object.fromEntries(headerNames.map((header) => [header, "…"])) }),
  };
  const secret = headerNames.length > 0 && { header_names: headerNames, secret_ref: { name: `${id}-headers` } };
  const isAllowed = may("pools:write");
  return (
    <ObjectHead name={name}>
      {isAllowed && <FormButton word="Change" form={change(destination, { path, again })} />}
      <AsCodeButton
        of={{
          title: `${plainText(name)} as code`,
          yaml: manifestOf("TelemetryDestination", destination, { ...shared, ...secret }),
          curl: { method: "POST", path: "/telemetry/destinations", body },
          sdk: `post("/telemetry/destinations", { body: ${JSON.stringify(body, null, 2)} })`,
        }}
      />
      {isAllowed && (
        <DeleteButton
          {...{ name, what: "destination", path, next: to(["telemetry"]) }}
          text="Nothing is sent to it any more, also of sessions that go on."
        />
      )}
    </ObjectHead>
  );
};

const DestinationView = ({ destination, again }: { destination: Destination; again: () => void }) => {
  const headers = Object.keys(destination.headers);
  return (
    <>
      <Actions destination={destination} again={again} />
      <Stand state={<DestinationState of={destination} />}>
        {destination.consecutive_failures > 0 && (
          <>
            The receiver takes nothing: <bdi>{plainText(destination.last_error ?? "no reason is known")}</bdi>. Look
            whether it runs at this endpoint, and whether its headers are right.
          </>
        )}
      </Stand>
      <Facts
        of={{
          Id: <span class="mono">{destination.id}</span>,
          Endpoint: <Text of={destination.endpoint} />,
          "What it is for": destination.description !== undefined && <bdi>{plainText(destination.description)}</bdi>,
          Compression: destination.compression,
          "Time for a request": `${destination.timeout_seconds} s`,
          "Headers, without their values": headers.length > 0 ? <TextList of={headers} /> : "none",
          "Last taken": <Time at={destination.last_export_at} />,
          "Last failure": destination.last_error !== undefined && (
            <>
              <Time at={destination.last_error_at} />: <bdi>{plainText(destination.last_error)}</bdi>
            </>
          ),
          Made: <Time at={destination.created_at} />,
        }}
      />
    </>
  );
};

/** The destination with this id or name. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<Destination>
    what="Destination"
    path={`/telemetry/destinations/${inPath(id)}`}
    kind="telemetry_destination"
    all={{ title: "All destinations", address: to(["telemetry"]) }}
  >
    {(destination, again) => <DestinationView destination={destination} again={again} />}
  </ObjectPage>
);
