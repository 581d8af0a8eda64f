-- The names that are delivered to partners; the contract's event table says the same, and a test compares the two.
create or replace function is_emitted(type text) returns boolean
language sql immutable parallel safe set search_path from current
return type in (
  'autorizacao.confirmada', 'margem.concluida', 'margem.falhou', 'emprestimo.emitido', 'emprestimo.emissao_falhou',
  'assinatura.concluida', 'assinatura.pendente', 'docs_registry.pendente', 'docs_registry.recebido',
  'averbacao.concluida', 'averbacao.falhou', 'desembolso.liquidado', 'desembolso.falhou',
  'trabalhador.desligado', 'trabalhador.vinculo_novo', 'repasse.processado'
);
