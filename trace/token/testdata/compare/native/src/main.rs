//! The native interfaces of fastokens and bpe-openai over a corpus.
//!
//!     native PEER ENCODING RANKS DOCS THREADS [IDS]
//!
//! prints one line of JSON: see worker.py.
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

type Encode = Box<dyn Fn(&str) -> Vec<u32> + Sync>;

fn open(peer: &str, encoding: &str, ranks: &str) -> Encode {
    match peer {
        "fastokens" => {
            let config = match encoding {
                "cl100k_base" => fastokens::TiktokenConfig::cl100k_base(),
                _ => fastokens::TiktokenConfig::o200k_base(),
            };
            let t = fastokens::Tokenizer::from_tiktoken_file(Path::new(ranks), config).expect("ranks");
            Box::new(move |s| t.encode_ordinary(s).expect("encode"))
        }
        "bpe-openai" => {
            let t = match encoding {
                "cl100k_base" => bpe_openai::cl100k_base(),
                _ => bpe_openai::o200k_base(),
            };
            Box::new(move |s| t.encode(s))
        }
        _ => panic!("peers are fastokens and bpe-openai"),
    }
}

fn documents(path: &str) -> Vec<String> {
    let data = fs::read(path).expect("corpus");
    let (mut out, mut i) = (Vec::new(), 0);
    while i < data.len() {
        let n = u32::from_le_bytes(data[i..i + 4].try_into().unwrap()) as usize;
        out.push(String::from_utf8(data[i + 4..i + 4 + n].to_vec()).expect("UTF-8"));
        i += 4 + n;
    }
    out
}

fn resident_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or("VmRSS: 0 kB");
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Encodes every document once on that many threads; the ids are dropped, as
/// each peer's are.
fn pass(encode: &Encode, docs: &[String], threads: usize) -> f64 {
    let start = Instant::now();
    std::thread::scope(|s| {
        for t in 0..threads {
            s.spawn(move || {
                for d in docs.iter().skip(t).step_by(threads) {
                    std::hint::black_box(encode(d));
                }
            });
        }
    });
    start.elapsed().as_secs_f64()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let start = Instant::now();
    let encode = open(&args[1], &args[2], &args[3]);
    encode("ready");
    let load = start.elapsed().as_secs_f64() * 1e3;
    let rss = resident_mb();
    let docs = documents(&args[4]);
    let threads: usize = args[5].parse().expect("threads");
    let cold = pass(&encode, &docs, threads);
    let warm = pass(&encode, &docs, threads);
    println!("{{\"load_ms\":{load:.1},\"rss_mb\":{rss:.1},\"cold_s\":{cold:.6},\"warm_s\":{warm:.6}}}");
    if let Some(path) = args.get(6) {
        let mut w = BufWriter::new(fs::File::create(path).expect("ids file"));
        for d in &docs {
            let ids = encode(d);
            w.write_all(&(ids.len() as u32).to_le_bytes()).unwrap();
            for id in ids {
                w.write_all(&id.to_le_bytes()).unwrap();
            }
        }
        w.flush().unwrap();
    }
}
