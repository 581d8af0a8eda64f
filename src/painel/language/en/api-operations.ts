/** What the API's description says of its groups and operations, in English, by the Portuguese sentence. */
export const OPERATIONS: Readonly<Record<string, string>> = {
  // Groups of operations
  'Webhooks: para onde e quais eventos são enviados.': 'Webhooks: where events are sent, and which.',
  'Entregas: um evento para um webhook, com suas tentativas.':
    'Deliveries: one event for one webhook, with its attempts.',
  'O fluxo de eventos do parceiro, para recuperar o que se perdeu.':
    "The feed of the partner's events, to recover what was lost.",
  'Empréstimos, seus documentos e sua averbação.': 'Loans, their documents and their registration.',
  'Consulta da margem de um trabalhador.': "Query of a worker's margin.",
  'Desligamentos e novos vínculos detectados.': 'Ends of bond and rehires that were detected.',
  'Evidência para auditores.': 'Evidence for auditors.',
  'A porta do núcleo de crédito do próprio serviço, com um token sem parceiro: o parceiro é o do empréstimo, ou vem no corpo.':
    "The door of the service's own loan core, with a token without a partner: the partner is the loan's, or comes in the body.",
  'Os sistemas em volta do serviço, representados pelo próprio parceiro. Só onde há sandbox.':
    'The systems around the service, played by the partner. Only where there is a sandbox.',

  // Webhooks
  'Registra um webhook; o secret só aparece nesta resposta':
    'Registers a webhook; the secret is shown in this answer alone',
  'Webhook registrado': 'The webhook was registered',
  'Lista os webhooks do parceiro, do mais antigo ao mais novo; sem ativo, só os ativos':
    "Lists the partner's webhooks, the oldest first; without ativo, the active ones",
  'Os ativos são no máximo 50 e cabem numa página. Dos outros pode haver mais: X-Proximo-Cursor vem com cada página que não é a última.':
    'The active ones are at most 50 and fit one page. There may be more of the others: X-Proximo-Cursor comes with every page but the last.',
  'Sem ele, true: só os ativos': 'Without it, true: the active ones alone',
  'Os webhooks, sem secret': 'The webhooks, without secret',
  'Lê um webhook, ativo ou não': 'Reads a webhook, active or not',
  'O webhook, sem secret': 'The webhook, without secret',
  'Altera url, eventos ou ativo; com ativo e retomar, as entregas suspensas voltam a ser enviadas':
    'Changes url, eventos or ativo; with ativo and retomar, suspended deliveries are sent again',
  'Desativa um webhook; o que estava pendente fica suspenso': 'Deactivates a webhook; what was pending is suspended',
  'Desativado, agora ou antes': 'Deactivated, now or before',
  'Troca o secret: o novo só aparece nesta resposta e assina já ou a partir de vale_em':
    'Rotates the secret: the new one is shown in this answer alone, and signs at once or from vale_em on',
  'Sem `vale_em` o novo secret assina já, e o anterior também por 24 h (`X-Webhook-Signature-Previous`). Com `vale_em`, até 24 h à frente, o anterior assina sozinho até lá: guarde antes o novo no receptor, que aceita os dois, e nenhuma entrega é recusada. Com Idempotency-Key, a resposta pode ser repetida com o secret por 60 s; depois, sem ele.':
    'Without `vale_em` the new secret signs at once, and the one before beside it for 24 h (`X-Webhook-Signature-Previous`). With `vale_em`, at most 24 h ahead, the one before signs alone until then: give the new one to the receiver first, which takes both, and no delivery is refused. With an Idempotency-Key the answer can be repeated with the secret for 60 s; then without it.',
  'O novo secret': 'The new secret',
  'O novo secret, que esperava por vale_em, assina já; o anterior também por 24 h':
    'The new secret, which waited for vale_em, signs at once; the one before beside it for 24 h',
  'O novo secret assina, agora ou antes': 'The new secret signs, now or before',
  'Descarta o novo secret que espera por vale_em; o atual continua a assinar':
    'Drops the new secret that waits for vale_em; the present one goes on signing',
  'Nenhum secret novo espera': 'No new secret waits',
  'O secret anterior deixa de assinar já': 'The secret before ceases to sign at once',
  'Encerrado, agora ou antes': 'Ended, now or before',
  'A repetição pela Idempotency-Key traz o secret por 60 s; depois disso vem sem ele':
    'A repetition by the Idempotency-Key brings the secret for 60 s; after that it comes without it',
  'O secret vem só na primeira resposta; a repetição pela Idempotency-Key não o traz':
    'The secret comes in the first answer alone; a repetition by the Idempotency-Key does not bring it',
  'Envia de novo as entregas de um período, sem status as que falharam; com simular, só conta':
    'Sends the deliveries of a period again, without status those that failed; with simular it only counts',
  'Sem ele, erro e suspensa. Um só também pode vir como texto, fora da lista':
    'Without it, erro and suspensa. One alone may also come as text, outside of the list',
  'Quantas, e onde continuar se não acabou': 'How many, and where to go on if it is not over',
  'Envia um webhook.teste assinado a este webhook, ou o exemplo de um evento, e responde com o que aconteceu':
    'Sends a signed webhook.teste, or the example of an event, to this webhook and answers with what happened',
  'Com evento, envia o exemplo dele, com o seu nome em X-Webhook-Event e em evento, inscrito ou não o webhook; com data, o exemplo como o parceiro o mudou: ids e números ficam os do exemplo, que nenhum empréstimo tem. Toda entrega de teste traz X-Webhook-Test: 1, não traz X-Webhook-Loan-Version e é tentada uma vez. O registro a guarda como webhook.teste: nem o fluxo de eventos nem o balanço a contam.':
    "With evento, sends that event's example, under its name in X-Webhook-Event and in evento, whether the webhook subscribes to it or not; with data, the example as the partner edited it: ids and numbers stay the example's, which no loan has. Every test bears X-Webhook-Test: 1 and no X-Webhook-Loan-Version, and is tried once. The log keeps it as webhook.teste: neither the feed nor the balance counts it.",
  'A entrega de teste, com a sua primeira tentativa': 'The test delivery, with its first attempt',
  'A entrega de teste, ainda sem resultado': 'The test delivery, without an outcome yet',

  'A saúde de um webhook: estado, pendente mais antiga, e as tentativas das últimas 24 h e dos últimos 7 dias':
    "A webhook's health: its state, its oldest pending delivery, and the attempts of the last 24 h and 7 days",
  'Conta tentativas, por hora cheia, até poucos segundos antes de contada_em: cada período começa na hora cheia desde. p50_ms e p95_ms são os tempos das respostas, quaisquer que sejam, no máximo 10 % acima do valor exato. pendente_mais_antiga é a criada primeiro entre as 1000 que vencem primeiro. estado: ativa; falhando (falha há horas, e recebe uma entrega por vez); suspensa (o serviço a desativou, porque falhava há dias); silenciada (um operador parou os envios, e nada se perde); inativa (desativada pelo parceiro, ou o parceiro está inativo).':
    'It counts attempts, by the full hour, up to a few seconds before contada_em: each period begins at the full hour desde. p50_ms and p95_ms are the times of answers, whatever they said, at most 10 % above the exact value. pendente_mais_antiga is the one made first among the 1000 that are due first. estado: ativa (active); falhando (it has failed for hours, and gets one delivery at a time); suspensa (the service deactivated it, because it had failed for days); silenciada (an operator has stopped sending, and nothing is lost); inativa (deactivated by the partner, or the partner is inactive).',
  'A saúde': 'The health',
  'As opções de um webhook': 'The options of a webhook',
  'Escolhe as opções de um webhook': 'Chooses the options of a webhook',
  'As opções': 'The options',
  'ordem: nenhuma (a de um webhook novo: cada entrega sai quando vence) ou por_emprestimo: de cada empréstimo uma entrega por vez, por versao_emprestimo; a próxima sai quando a anterior está entregue ou em erro, e os outros empréstimos não esperam. Uma entrega que falha segura as seguintes do seu empréstimo por todo o seu calendário de tentativas. Uma suspensa só segura as seguintes enquanto é retomada, e uma reenviada chega depois das que já chegaram. Eventos sem empréstimo não esperam.':
    "ordem: nenhuma (a new webhook's: each delivery leaves when it is due) or por_emprestimo: of each loan one delivery at a time, by versao_emprestimo; the next leaves when the one before is entregue or erro, and the other loans do not wait. A delivery that fails holds back those of its loan that follow, for its whole schedule. A suspended one holds back those that follow only while it is being resumed, and one that is resent arrives after those that have arrived. Events without a loan do not wait.",

  // Deliveries and the feed
  'Uma entrega com o corpo exato e as suas tentativas, cada uma com os cabeçalhos enviados':
    'A delivery with its exact body and its attempts, each with the headers that were sent',
  'corpo é o texto enviado: os seus bytes em UTF-8 são os do corpo de toda tentativa. Os cabeçalhos são refeitos do que ficou registrado, com as assinaturas dos secrets daquele momento; onde já não se sabe qual secret assinou (assinaturas_conhecidas: false), vêm sem elas. User-Agent é o da versão atual, e traceparent o do evento.':
    "corpo is the text that was sent: its bytes in UTF-8 are those of every attempt's body. Headers are made again from what was recorded, signed by the secrets of that moment; where it is not known any more which secret signed (assinaturas_conhecidas: false), they come without signatures. User-Agent is that of the present version, and traceparent the event's.",
  'A entrega, com o que foi enviado': 'The delivery, with what was sent',
  'Onde começar: no primeiro evento registrado neste instante ou depois; dele em diante vêm todos, na ordem da lista. Um instante no futuro vale como agora. Com depois não é lido: o cursor já diz onde continuar':
    'Where to begin: with the first event recorded at this instant or later; from there on all come, in the order of the list. An instant in the future counts as now. With depois it is not read: the cursor says where to go on',
  'Um evento do parceiro, pelo evento_id, com as suas entregas':
    "One event of the partner's, by its evento_id, with its deliveries",
  'O evento': 'The event',
  'Entregas de um webhook, da mais nova à mais antiga': 'Deliveries of a webhook, the newest first',
  'Entregas de todos os webhooks do parceiro, ativos ou não, da mais nova à mais antiga':
    "Deliveries of all the partner's webhooks, active or not, the newest first",
  'Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter proximo_cursor: a busca continua onde parou.':
    'A page may bring fewer items than the limit, or none, and still have proximo_cursor: the search goes on where it stopped.',
  'O ultimo_resultado': 'The ultimo_resultado',
  'O ultimo_status_http': 'The ultimo_status_http',
  'Uma página, e o cursor da próxima': 'A page, and the cursor of the next',
  'Uma página, e o cursor para continuar': 'A page, and the cursor to go on',
  'Uma entrega com as suas tentativas': 'A delivery with its attempts',
  'A entrega': 'The delivery',
  'Envia a entrega de novo, com o mesmo id e o calendário desde o início':
    'Sends the delivery again, with the same id and a fresh schedule',
  'A entrega, pendente': 'The delivery, pending',
  'Todos os eventos do parceiro, na ordem em que se confirmaram, com as suas entregas':
    "All the partner's events in the order of their commits, with their deliveries",
  'Continue com depois = proximo_cursor enquanto ha_mais for verdadeiro: uma página pode trazer menos itens do que o limite, ou nenhum. Depois disso o mesmo cursor traz o que for novo. Um cursor além do que o registro tem (depois de o banco de dados voltar a um momento anterior) é 409 CURSOR_ADIANTE; o cursor por onde continuar é a mensagem do detalhe depois.':
    'Go on with depois = proximo_cursor while ha_mais is true: a page may bring fewer items than the limit, or none. After that the same cursor brings what is new. A cursor ahead of the log (after the database went back to an earlier moment) is 409 CURSOR_ADIANTE; the cursor to go on from is the message of the detail depois.',
  'O proximo_cursor de uma resposta anterior, com os mesmos filtros':
    'The proximo_cursor of an earlier answer, with the same filters',
  'Um dia de São Paulo ou um instante com fuso; incluído no período':
    'A day of São Paulo, or an instant with its offset; included in the period',

  // Loans, margins, bonds
  'Emite um empréstimo': 'Issues a loan',
  'CPF sem pontuação, com dígitos verificadores': 'CPF without punctuation, with its check digits',
  'CNPJ sem pontuação, com dígitos verificadores': 'CNPJ without punctuation, with its check digits',
  'Reais, com no máximo duas casas decimais': 'Reais, with two decimals at most',
  'Reais, com no máximo duas casas decimais; pode ser negativo': 'Reais, with two decimals at most; may be negative',
  'Emitido de forma síncrona': 'Issued synchronously',
  'Emissão assíncrona em andamento': 'An asynchronous issuance is under way',
  'Lê um empréstimo, como está ou como estava numa versão': 'Reads a loan, as it is or as it was at a version',
  'O empréstimo como estava logo depois do seu n-ésimo evento': 'The loan as it was right after its n-th event',
  'O empréstimo': 'The loan',
  'Pede a averbação do empréstimo': "Asks for the loan's registration",
  'Averbação em processamento': 'The registration is being processed',
  'Lê a última averbação do empréstimo': "Reads the loan's latest registration",
  'A última averbação': 'The latest registration',
  'Envia o pacote assinado inteiro (agrupada) ou a CCB assinada antes dos outros (diferida)':
    'Sends the whole signed package (agrupada), or the signed CCB ahead of the others (diferida)',
  'Um PDF, um PNG ou um JPEG em base64 canônico, de até 8 MiB depois de decodificado':
    'A PDF, PNG or JPEG in canonical base64, up to 8 MiB decoded',
  'Cada tipo no máximo uma vez': 'Each tipo at most once',
  'Entrega de uma vez todos os documentos que faltam': 'Hands in all missing documents at once',
  'Entrega um dos documentos que faltam; o último encerra a entrega':
    'Hands in one of the missing documents; the last one ends the obligation',
  'Consulta a margem de um trabalhador': "Queries a worker's margin",
  'A margem, do registry ou de uma consulta recente': 'The margin, from the registry or a recent query',
  '`registry`: esta requisição consultou o registry e emitiu o evento. `cache`: ela recebeu a resposta de outra consulta, recente ou em andamento, sem consultar nem emitir':
    '`registry`: this request asked the registry and emitted the event. `cache`: it got the answer of another query, recent or under way, and neither asked nor emitted',
  'Desligamentos detectados, do primeiro ao último': 'Ends of bond that were detected, the first one first',
  'Novos vínculos detectados, do primeiro ao último': 'Rehires that were detected, the first one first',

  // Auditors
  'Tentativas de todos os parceiros, da mais nova à mais antiga; ou tudo, num arquivo':
    'Attempts of all partners, the newest first; or everything, as a file',
  'desde e ate filtram registrada_em. Uma página pode trazer menos itens do que o limite, ou nenhum, e ainda ter proximo_cursor. Com outro formato (ou Accept) que json vem tudo, da mais antiga à mais nova. O manifesto traz a contagem, o SHA-256 dos bytes anteriores e o selo mais novo: é a última linha do NDJSON; os outros formatos só têm as tentativas, e o seu manifesto está no caminho do cabeçalho X-Carteiro-Manifesto. CPFs e consultas (query) de URLs vêm mascarados sem o escopo auditoria:cpf.':
    'desde and ate filter registrada_em. A page may bring fewer items than the limit, or none, and still have proximo_cursor. With another formato (or Accept) than json everything comes, the oldest first. The manifest holds the count, the SHA-256 of the bytes before it and the newest seal: it is the last line of the NDJSON; the other formats have the attempts alone, and their manifest is at the path of the header X-Carteiro-Manifesto. CPFs and query strings of URLs are masked without the scope auditoria:cpf.',
  'O manifesto de uma exportação: quantas linhas tem, e o SHA-256 dos seus bytes':
    'The manifest of an export: how many rows it has, and the SHA-256 of its bytes',
  'O caminho, com corte, vem no cabeçalho X-Carteiro-Manifesto da exportação; as mesmas linhas são lidas outra vez. Compare sha256 com o do arquivo (no NDJSON, sem a última linha).':
    'The path, with corte, comes in the header X-Carteiro-Manifesto of the export; the same rows are read again. Compare sha256 with that of the file (of NDJSON, without its last line).',
  'O manifesto': 'The manifest',
  'Balanço das entregas por parceiro e dia, recalculado dos eventos e da história dos webhooks':
    'The balance of deliveries by partner and day, computed anew from the events and the history of the webhooks',
  'esperadas vem dos eventos e dos webhooks ativos na gravação de cada um, nunca das entregas. Lista até 1000 diferenças; total_diferencas conta todas. webhook.teste e os avisos (webhook.falhando, webhook.suspenso) ficam fora. fato_inesperado é um evento que o próprio serviço não gravaria naquele ponto do fluxo, como um desembolso liquidado sem averbação: foi enviado e vale no empréstimo como fato. A resposta vem enquanto é calculada, dia a dia, e um dia de muito movimento hora a hora: um JSON que não termina não está inteiro.':
    'esperadas comes from the events and the webhooks that were active when each was written, never from the deliveries. Up to 1000 differences are listed; total_diferencas counts all. webhook.teste and the notices (webhook.falhando, webhook.suspenso) are left out. fato_inesperado is an event that the service itself would not write at that point, as a disbursement settled without a registration: it was sent, and counts in the loan as a fact. The answer comes while it is computed, day by day, and a busy day hour by hour: a JSON that does not end is not whole.',
  'O balanço; fecha é verdadeiro quando nenhuma entrega falta ou sobra; fato_inesperado não o torna falso':
    'The balance; fecha is true when no delivery is missing or too many; fato_inesperado does not make it false',
  'Uma entrega como prova: evento, bytes exatos, tentativas e os selos que os cobrem':
    'A delivery as evidence: event, exact bytes, attempts and the seals that cover them',
  'O comando audit check confere o arquivo sem banco de dados. Com o escopo auditoria:cpf traz o corpo como foi enviado, CPF incluído; sem ele vem mascarada, e dela só se conferem a cadeia de selos e a situação da entrega.':
    "The command audit check checks the file without a database. With the scope auditoria:cpf it brings the body as it was sent, CPF included; without it it is masked, and the chain of seals and the delivery's state alone can be checked.",
  'A prova': 'The evidence',

  // The loan core and the sandbox
  'O provedor interno finaliza o documento': 'The internal provider finalises the document',
  'A emissão assíncrona termina': 'The asynchronous issuance ends',
  'A transferência do banco termina': "The bank's transfer ends",
  'Do dia da contratação a hoje, em São Paulo; sem ela, hoje':
    "From the day of the loan's creation to today, in São Paulo; without it, today",
  'O trabalhador aceita a autorização': 'The worker accepts the authorization',
  'O parceiro, ativo, que recebe o evento': 'The active partner that receives the event',
  'A autorização confirmada': 'The confirmed authorization',
  'O que o registry responde à próxima averbação': 'What the registry answers to the next registration',
  'O que o registry vai responder': 'What the registry will answer',
  'Adianta as entregas pendentes do parceiro': "Makes the partner's pending deliveries due earlier",
  'Quantas entregas foram adiantadas': 'How many deliveries became due earlier',
  'O que o registry responde às consultas de margem': 'What the registry answers to margin queries',
  'O registry passa a conhecer um desligamento; a próxima sincronização o detecta':
    'The registry learns of an end of bond; the next sync detects it',
  'O que o registry passou a conhecer': 'What the registry learnt',
  'O registry passa a conhecer um novo vínculo; é detectado quando o empréstimo está encerrado':
    'The registry learns of a rehire; it is detected when the loan is closed',
  'A sincronização noturna roda agora': 'The nightly sync runs now',
  'Quantos registros foram detectados pela primeira vez': 'How many records were detected for the first time',
  'O repasse do mês fecha; fechar de novo responde o que existe, com ja_fechado true':
    'The settlement of the month closes; closing it again answers what there is, with ja_fechado true',
  'O repasse': 'The settlement',
};
