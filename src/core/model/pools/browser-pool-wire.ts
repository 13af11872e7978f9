/** The pool's requests and response over HTTP, all derived from the spec of the kind (browser-pool.ts). */
import { z } from "zod";
import { Conditions } from "../../../platform/kinds/conditions.ts";
import { documentedForms, documentedFormsOfEach } from "../../../platform/kinds/document-rules.ts";
import { maxIdLength, reservesIds } from "../../../platform/kinds/selector.ts";
import { optionalFields, wireSchema } from "../../../platform/kinds/wire.ts";
import { Network, startUrlOrNone } from "../settings/browser-settings.ts";
import { Telemetry } from "../settings/telemetry.ts";
import { Autoscale } from "./autoscale.ts";
import { BrowserPoolSpec } from "./browser-pool.ts";

const clearable = "An empty string clears it.";

const filled = (field: string): object => ({ properties: { [field]: { minLength: 1 } }, required: [field] });
const empty = (field: string): object => ({ properties: { [field]: { maxLength: 0 } } });

/** Of id and name one may be filled, and one must be given (core/model/settings/browser-settings.ts). */
export const profileForms = [
  { allOf: [filled("id"), empty("name")] },
  { allOf: [filled("name"), empty("id")] },
  { allOf: [empty("id"), empty("name")], anyOf: [{ required: ["id"] }, { required: ["name"] }] },
];

/** The fields of a request's profile. */
export const profileFields = {
  id: z.string().max(maxIdLength).optional(),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{0,255}$/)
    .optional(),
};

/** Fields that accept "not set" in requests: an empty string, or null for telemetry. */
export const lenientFields = {
  profile: documentedForms(z.object(profileFields), profileForms)
    .optional()
    .describe("The profile that browsers start with, by id or by name. An empty id or name clears it."),
  proxyId: z.string().max(maxIdLength).optional().describe(`The id of the proxy that all traffic takes. ${clearable}`),
  startUrl: startUrlOrNone.optional().describe(`The URL that a new browser opens, best effort. ${clearable}`),
  telemetry: Telemetry.nullable().optional().describe("What is captured of browsers that are started later."),
};

/** Of a request; without fields it is none (POOL-5), else it has a `max`. */
const autoscale = documentedForms(optionalFields(Autoscale), [{ maxProperties: 0 }, { required: ["max"] }]).optional();

const isEmptyObject = { maxProperties: 0 };

/** A pool has a size, or `autoscale` that is not empty. */
const sizeForms = [
  { required: ["size"], properties: { autoscale: isEmptyObject } },
  { required: ["autoscale"], properties: { autoscale: { required: ["max"] } }, not: { required: ["size"] } },
];

/** The same of a change of a pool, where both may be left out, and an empty `autoscale` asks for a size. */
const sizeChangeForms = [
  { not: { required: ["autoscale"] } },
  ...sizeForms.map(({ required, ...form }) => ({ ...form, required: [...new Set([...required, "autoscale"])] })),
];

/** Fields that the HTTP API neither accepts nor shows. */
const hidden = { discardIdle: true, chromePolicyRef: true, blank: true } as const;

/** The request of `POST /browser_pools` in camelCase; `core/model/pools/pool-requests.ts` turns it into a spec. */
export const PoolRequest = documentedFormsOfEach(
  BrowserPoolSpec.omit(hidden).extend({
    ...lenientFields,
    autoscale: autoscale.describe("The size follows the demand within bounds; in place of size."),
  }),
  [
    { properties: { refresh_on_profile_update: { const: false } } },
    {
      properties: { refresh_on_profile_update: { const: true }, profile: { anyOf: [filled("id"), filled("name")] } },
      required: ["refresh_on_profile_update", "profile"],
    },
  ],
  sizeForms,
);
export type PoolRequest = z.infer<typeof PoolRequest>;

/** The request of `PATCH /browser_pools/{id_or_name}` in camelCase; `core/model/pools/pool-requests.ts` applies it. */
export const PoolPatch = documentedForms(
  optionalFields(BrowserPoolSpec.omit({ region: true, ...hidden })).extend({
    ...lenientFields,
    autoscale: autoscale.describe(
      "Replaced whole. It takes the place of size; an empty object with a size gives the pool a fixed size again.",
    ),
    name: reservesIds(
      z
        .string()
        .max(255)
        .regex(/^[a-zA-Z0-9._-]*$/),
    )
      .optional()
      .describe("The new name. An empty string leaves the name as it is."),
    expectedNetwork: Network.optional().describe(
      "A condition: the pool's network as its last answer had it, or {} for none. Another one is 409 stale_network, and nothing changes.",
    ),
    discardAllIdle: z.boolean().default(false).describe("Discard all idle browsers and rebuild them at once."),
  }),
  sizeChangeForms,
);
export type PoolPatch = z.infer<typeof PoolPatch>;

const TelemetryRecord = z.object({
  ...Telemetry.shape,
  export: z
    .object({
      otlp: z
        .object({
          enabled: z.boolean().optional(),
          destination: z.string().optional().describe("The id or the name of the destination, as it was given."),
        })
        .optional(),
    })
    .optional(),
});

/** The response in camelCase; `core/model/pools/pool-answer.ts` builds it. */
export const PoolAnswer = z.object({
  id: z.string().describe("The pool's id."),
  name: z.string().optional().describe("The pool's name, if set."),
  region: BrowserPoolSpec.shape.region.unwrap(),
  managedBy: z
    .string()
    .optional()
    .describe(
      "Who owns the pool, e.g. git: the word of its annotation browserpool.dev/managed-by. Changes, deletion and flush are 409 read_only then.",
    ),
  createdAt: z.iso.datetime(),
  acquiredCount: z.int().min(0).describe("Browsers in use."),
  availableCount: z.int().min(0).describe("Browsers that are idle and can be acquired now."),
  startingCount: z.int().min(0).describe("Browsers that start, as the operator saw last."),
  waitingCount: z.int().min(0).describe("Callers that wait for a browser, as the operator saw last."),
  conditions: Conditions.describe(
    "What the operator says of the pool: Accepted, Ready and others, each with a reason. Empty until it has looked.",
  ),
  extensionIds: z.array(z.string()).describe("Ids of the extensions in load order; empty when there are none."),
  profileId: z.string().optional().describe("Id of the profile; left out when there is none."),
  browserPoolConfig: BrowserPoolSpec.omit({ region: true, ...hidden })
    .extend({
      size: z.int().min(0).describe("Browsers in the pool: in use, idle and starting together. With autoscale: now."),
      telemetry: TelemetryRecord.optional(),
    })
    .describe("The configuration that the pool's browsers are made with."),
});

export const CreateBrowserPool = wireSchema(PoolRequest);
export type CreateBrowserPool = z.output<typeof CreateBrowserPool>;

export const UpdateBrowserPool = wireSchema(PoolPatch);
export type UpdateBrowserPool = z.output<typeof UpdateBrowserPool>;

export const BrowserPoolAnswer = wireSchema(PoolAnswer);
export type BrowserPoolAnswer = z.output<typeof BrowserPoolAnswer>;
