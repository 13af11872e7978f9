/** One proxy: what its last check found, and a check now. */
import type { ProxyAnswer } from "../../../proxies/proxy-wire.ts";
import { AsCodeButton } from "../parts/as-code.tsx";
import { type Form, FormButton } from "../parts/form.tsx";
import { DeleteButton, Facts, ObjectHead, ObjectPage, TextList } from "../parts/object-page.tsx";
import { ProxyState, proxyName, proxyPlace } from "../parts/proxy-words.tsx";
import { Stand } from "../parts/stand.tsx";
import { plainText, Text } from "../parts/text.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";
import { call, inPath } from "../service/api.ts";
import { manifestOf } from "../service/manifests.ts";
import { may } from "../service/session.ts";

type Changed = { path: string; again: () => void };

const rename = (proxy: ProxyAnswer, { path, again }: Changed): Form => ({
  title: `Rename ${plainText(proxyName(proxy))}`,
  fields: [{ name: "name", label: "Name", hint: "Any text.", isRequired: true, initial: proxy.name ?? "" }],
  action: "Rename",
  async send({ name }) {
    await call("PATCH", path, { body: { name } });
    again();
    return { said: "The proxy has its new name." };
  },
});

const check = ({ path, again }: Changed): Form => ({
  title: "Check the proxy now",
  intro: "The service reaches a public page through the proxy.",
  fields: [
    {
      ...{ name: "url", label: "Page to reach" },
      hint: "A public URL, whose result is shown and not kept. Left empty: the usual page, whose result is kept.",
    },
  ],
  action: "Check",
  async send({ url }) {
    const { status } = await call<ProxyAnswer>("POST", `${path}/check`, { body: { url } });
    again();
    const what = url === undefined ? "The proxy" : "The page";
    return { said: status === "available" ? `${what} answers.` : `${what} does not answer.` };
  },
});

/** The manifest's spec has the settings of the type under its name, and passwords in a Secret. */
const specOf = ({ name, type, protocol, bypass_hosts, config, id }: ProxyAnswer): object => {
  const { has_password, has_ca_bundle, ...settings } = config;
  const secret = has_password || has_ca_bundle;
  return {
    ...{ name, type, protocol, bypass_hosts },
    [type]: {
      ...settings,
      ...(secret && { secret_ref: { name: `${id}-secret` }, has_password, has_ca_bundle }),
    },
  };
};

const bodyOf = ({ name, type, protocol, bypass_hosts, config }: ProxyAnswer): object => {
  const { has_password, has_ca_bundle, ...settings } = config;
  const secrets = { ...(has_password && { password: "…" }), ...(has_ca_bundle && { ca_bundle: "…" }) };
  return { name, type, protocol, bypass_hosts, config: { ...settings, ...secrets } };
};

const Actions = ({ proxy, again }: { proxy: ProxyAnswer; again: () => void }) => {
  const path = `/proxies/${inPath(proxy.id)}`;
  const name = proxyName(proxy);
  const isAllowed = may("pools:write");
  const body = bodyOf(proxy);
  return (
    <ObjectHead name={name}>
      {isAllowed && (
        <>
          <FormButton word="Check now" form={check({ path, again })} />
          <FormButton word="Rename" form={rename(proxy, { path, again })} />
        </>
      )}
      <AsCodeButton
        of={{
          title: `${plainText(name)} as code`,
          yaml: manifestOf("Proxy", proxy, specOf(proxy)),
          curl: { method: "POST", path: "/proxies", body },
          sdk: `proxies.create(${JSON.stringify(body, null, 2)})`,
        }}
      />
      {isAllowed && (
        <DeleteButton
          {...{ name, what: "proxy", path, next: to(["proxies"]) }}
          text="What is stored of it is deleted with it. Refused while a pool or a browser uses it."
        />
      )}
    </ObjectHead>
  );
};

const ProxyView = ({ proxy, again }: { proxy: ProxyAnswer; again: () => void }) => {
  const { config, bypass_hosts } = proxy;
  return (
    <>
      <Actions proxy={proxy} again={again} />
      <Stand state={<ProxyState of={proxy} />}>
        {proxy.status === "unavailable" &&
          "The last check reached nothing through it. Look whether it runs, and whether its login is right; then check it again."}
      </Stand>
      <Facts
        of={{
          Id: <span class="mono">{proxy.id}</span>,
          Type: proxy.type,
          Where: <Text of={proxyPlace(proxy) || "anywhere"} />,
          "How browsers connect to it": proxy.protocol,
          Username: config.username !== undefined && <Text of={config.username} />,
          Password: config.has_password !== undefined && (config.has_password ? "stored" : "none"),
          Certificates: config.has_ca_bundle && "stored",
          "Address that sites see": <Text of={proxy.ip_address ?? "not known"} />,
          "Last checked": <Time at={proxy.last_checked} />,
          "Hosts without the proxy": bypass_hosts && <TextList of={bypass_hosts} />,
        }}
      />
    </>
  );
};

/** The proxy with this id or name. */
export const View = ({ id }: { id: string }) => (
  <ObjectPage<ProxyAnswer>
    what="Proxy"
    path={`/proxies/${inPath(id)}`}
    kind="proxy"
    all={{ title: "All proxies", address: to(["proxies"]) }}
  >
    {(proxy, again) => <ProxyView proxy={proxy} again={again} />}
  </ObjectPage>
);
