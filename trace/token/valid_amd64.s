#include "textflag.h"

// The check of J. Keiser and D. Lemire, Validating UTF-8 in less than one
// instruction per byte (2021), section 6. Each pair of neighbouring bytes looks
// up what may be wrong with it in three tables, by the halves of the first byte
// and the upper half of the second; what all three say is wrong. Bit 7 stands
// for two continuations in a row, right just where a lead two or three bytes
// before asks for them.
DATA first<>+0(SB)/8, $0x0202020202020202
DATA first<>+8(SB)/8, $0x4915012180808080
GLOBL first<>(SB), RODATA|NOPTR, $16
DATA firstLow<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstLow<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL firstLow<>(SB), RODATA|NOPTR, $16
DATA second<>+0(SB)/8, $0x0101010101010101
DATA second<>+8(SB)/8, $0x01010101babaaee6
GLOBL second<>(SB), RODATA|NOPTR, $16

// Leads of more than 1, 2, 3 bytes in the last places are incomplete.
DATA complete<>+0(SB)/8, $0xffffffffffffffff
DATA complete<>+8(SB)/8, $0xffffffffffffffff
DATA complete<>+16(SB)/8, $0xffffffffffffffff
DATA complete<>+24(SB)/8, $0xbfdfefffffffffff
GLOBL complete<>(SB), RODATA|NOPTR, $32

DATA limits<>+0(SB)/4, $0x8070600f
GLOBL limits<>(SB), RODATA|NOPTR, $4

// func validBlocks(text *byte, n int) bool
TEXT ·validBlocks(SB), NOSPLIT, $0-17
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), BX
	VBROADCASTI128 first<>(SB), Y8
	VBROADCASTI128 firstLow<>(SB), Y9
	VBROADCASTI128 second<>(SB), Y10
	VMOVDQU complete<>(SB), Y11
	VPBROADCASTB limits<>+0(SB), Y12
	VPBROADCASTB limits<>+1(SB), Y13
	VPBROADCASTB limits<>+2(SB), Y14
	VPBROADCASTB limits<>+3(SB), Y15
	VPXOR Y0, Y0, Y0 // errors
	VPXOR Y1, Y1, Y1 // block before
	VPXOR Y2, Y2, Y2 // its incomplete leads

loop:
	VMOVDQU (SI), Y3
	VPMOVMSKB Y3, AX
	TESTL AX, AX
	JNZ wide
	VPOR Y2, Y0, Y0
	VPXOR Y2, Y2, Y2
	JMP next

wide:
	VPERM2I128 $0x21, Y3, Y1, Y4
	VPALIGNR $15, Y4, Y3, Y5 // one byte before
	VPALIGNR $14, Y4, Y3, Y6
	VPALIGNR $13, Y4, Y3, Y7
	VPSUBUSB Y13, Y6, Y6 // three bytes or more: bit 7
	VPSUBUSB Y14, Y7, Y7 // four
	VPOR Y6, Y7, Y7
	VPAND Y15, Y7, Y7
	VPSRLW $4, Y5, Y6
	VPAND Y12, Y6, Y6
	VPSHUFB Y6, Y8, Y6
	VPAND Y12, Y5, Y5
	VPSHUFB Y5, Y9, Y5
	VPAND Y5, Y6, Y6
	VPSRLW $4, Y3, Y5
	VPAND Y12, Y5, Y5
	VPSHUFB Y5, Y10, Y5
	VPAND Y5, Y6, Y6
	VPXOR Y7, Y6, Y6
	VPOR Y6, Y0, Y0
	VPSUBUSB Y11, Y3, Y2

next:
	VMOVDQA Y3, Y1
	ADDQ $32, SI
	SUBQ $32, BX
	JNZ loop

	VPTEST Y0, Y0
	SETEQ ret+16(FP)
	VZEROUPPER
	RET
