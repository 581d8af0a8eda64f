import { isIP } from 'node:net';
import { MAX_URL_LENGTH } from '../../contract/resources/webhook.ts';
import { addressVerdict, type TargetRules } from './addresses.ts';

/** Blanks, control and invisible characters, backslashes: a URL parser silently drops or rewrites them. */
const TRICKS = /[\s\\\p{Cc}\p{Cf}\p{Cs}]/u;
const ABSOLUTE = /^(https?):\/\/([^/?#]+)/i;
/** Characters outside a path or query of RFC 3986. The URL standard, which we parse by, accepts more: `5%`, `a|b`. */
const NOT_OF_A_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/g;
const LOCAL_NAME = /(^|\.)(localhost|local|internal)$/;

export type Target = { readonly url: string } | { readonly refused: string };

function refused(rule: string): Target {
  return { refused: rule };
}

function hostRule(hostname: string, rules: TargetRules): string | null {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal) !== 0) {
    return addressVerdict(literal, rules) === 'allowed' ? null : 'o endereço não é público';
  }
  const name = hostname.replace(/\.$/, '');
  if (name.split('.').includes('')) return 'o nome do servidor é inválido';
  if (rules.allowInsecure) return null;
  if (LOCAL_NAME.test(name)) return 'nomes locais não são aceitos';
  if (!name.includes('.')) return 'o nome do servidor deve ter um domínio';
  return null;
}

/**
 * The webhook's `url` in normalised form, or the Portuguese rule that refuses it, for `detalhes`. At most {@link MAX_URL_LENGTH}
 * characters, given and normalised. Pure: no name is resolved.
 */
export function parseTarget(text: string, rules: TargetRules): Target {
  if (text.length > MAX_URL_LENGTH) return refused(`tem no máximo ${MAX_URL_LENGTH} caracteres`);
  if (TRICKS.test(text)) return refused('não pode ter espaços, barras invertidas ou caracteres de controle');
  const [, scheme = '', authority = ''] = ABSOLUTE.exec(text) ?? [];
  if (scheme === '') return refused('deve ser uma URL absoluta https://');
  if (scheme.toLowerCase() === 'http' && !rules.allowInsecure) return refused('deve usar https://');
  if (authority.includes('@')) return refused('não pode ter usuário ou senha');
  if (text.includes('#')) return refused('não pode ter fragmento (#)');
  if (!URL.canParse(text)) return refused('não é uma URL válida');
  const url = new URL(text);
  if (url.port === '0') return refused('a porta 0 não é aceita');
  const { origin } = url;
  const encoded = origin + url.href.slice(origin.length).replaceAll(NOT_OF_A_URI, encodeURIComponent);
  if (encoded.length > MAX_URL_LENGTH)
    return refused(`tem no máximo ${MAX_URL_LENGTH} caracteres depois de normalizada`);
  const rule = hostRule(url.hostname, rules);
  return rule === null ? { url: encoded } : refused(rule);
}
