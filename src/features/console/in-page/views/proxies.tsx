/** The proxies of the project, with what their last checks found. */
import type { ProxyAnswer } from "../../../proxies/proxy-wire.ts";
import type { Form, Given } from "../parts/form.tsx";
import type { Field, Typed } from "../parts/form-fields.tsx";
import { ObjectList } from "../parts/object-list.tsx";
import { ProxyState, proxyName, proxyPlace } from "../parts/proxy-words.tsx";
import type { Column } from "../parts/table.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call } from "../service/api.ts";

const columns: readonly Column<ProxyAnswer>[] = [
  {
    key: "name",
    title: "Proxy",
    cell: (proxy) => (
      <a href={to(["proxies", proxy.id])}>
        <Text of={proxyName(proxy)} />
      </a>
    ),
    sortBy: (proxy) => proxyName(proxy).toLowerCase(),
  },
  {
    key: "state",
    title: "Last check",
    cell: (proxy) => <ProxyState of={proxy} />,
    sortBy: ({ status = "" }) => status,
  },
  {
    key: "checked",
    title: "Checked",
    cell: ({ last_checked }) => <Time at={last_checked} />,
    sortBy: ({ last_checked = "" }) => last_checked,
    isLow: true,
  },
  { key: "type", title: "Type", cell: ({ type }) => type, sortBy: ({ type }) => type, isLow: true },
  { key: "place", title: "Where", cell: (proxy) => <Text of={proxyPlace(proxy)} />, sortBy: proxyPlace, isLow: true },
  {
    key: "ip",
    title: "Address that sites see",
    cell: ({ ip_address = "" }) => <Text of={ip_address} mono />,
    isLow: true,
  },
];

const types = [
  { value: "custom", text: "custom: a proxy of your own" },
  { value: "isp", text: "isp: of the provider of this installation" },
  { value: "residential", text: "residential: of the provider" },
  { value: "mobile", text: "mobile: of the provider" },
  { value: "datacenter", text: "datacenter: of the provider" },
];

const at = (name: string): { name: string; path: string } => ({ name, path: `config.${name}` });

const ownPlace: readonly Field[] = [
  { ...at("host"), label: "Host", hint: "A name or an address.", isRequired: true },
  { ...at("port"), label: "Port", kind: "number", min: 1, max: 65_535, isRequired: true },
  { ...at("username"), label: "Username", hint: "May stay empty." },
  { ...at("password"), label: "Password", kind: "secret", hint: "Stored, and shown to nobody again." },
  {
    ...{ ...at("ca_bundle"), label: "Certificates", kind: "long" },
    hint: "In PEM form, for a proxy that ends TLS; browsers then trust them. May stay empty.",
  },
];

const country: Field = { ...at("country"), label: "Country", hint: "Two letters, such as US. May stay empty." };
const region: readonly Field[] = [
  { ...at("state"), label: "State", hint: "Two letters. May stay empty." },
  { ...at("city"), label: "City", hint: "As the provider calls it, without spaces. May stay empty." },
];

const placeOf: Record<string, readonly Field[]> = {
  custom: ownPlace,
  isp: [country],
  datacenter: [country],
  mobile: [country, ...region],
  residential: [
    country,
    ...region,
    { ...at("zip"), label: "ZIP code", hint: "Of the US. May stay empty." },
    { ...at("asn"), label: "Autonomous system", hint: "A number. May stay empty." },
  ],
};

const fields = ({ type = "custom" }: Readonly<Record<string, Typed>>): Field[] => [
  { name: "type", label: "Type", kind: "choice", options: types },
  { name: "name", label: "Name", hint: "Any text. May stay empty." },
  {
    ...{ name: "protocol", label: "How browsers connect to it", kind: "choice", initial: "http" },
    isLeftOut: type !== "custom",
    options: [{ value: "http" }, { value: "https" }],
  },
  ...(placeOf[String(type)] ?? []),
  {
    ...{ name: "bypass_hosts", label: "Hosts without the proxy", kind: "lines" },
    hint: "One a line, such as *.example.com. May stay empty.",
  },
];

const bodyOf = ({ type, name, protocol, bypass_hosts, ...config }: Given): object => ({
  ...{ type, name, protocol, bypass_hosts, config },
});

const make: Form = {
  title: "Make a proxy",
  intro: "A proxy keeps what it is made with; only its name can be changed later.",
  fields,
  action: "Make the proxy",
  async send(given) {
    const proxy = await call<ProxyAnswer>("POST", "/proxies", { body: bodyOf(given) });
    return {
      said: `Proxy ${plainText(proxyName(proxy))} is there. Check it to see whether it works.`,
      next: to(["proxies", proxy.id]),
    };
  },
};

/** All proxies. */
export const View = () => (
  <ObjectList<ProxyAnswer>
    title="Proxies"
    one="proxy"
    path="/proxies"
    kind="proxy"
    columns={columns}
    keyOf={({ id }) => id}
    textOf={(proxy) => `${proxyName(proxy)} ${proxyPlace(proxy)} ${proxy.id}`}
    lead="A proxy is a way for browsers to reach sites from another address."
    make={{ permission: "pools:write", word: "Make a proxy", form: make }}
  />
);
